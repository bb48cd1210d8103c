// blocked_nd_range: any number of dimensions that can be divided.
#pragma once

#include <array>
#include <cstddef>  // size_t
#include <utility>  // index_sequence

#include "heist/compat/tbb/oneapi/tbb/blocked_range.h"

namespace tbb {

namespace detail {
template <class T, std::size_t>
using each_of = T;

template <class Value, std::size_t N, class Indices = std::make_index_sequence<N>>
class nd_range;

template <class Value, std::size_t N, std::size_t... I>
class nd_range<Value, N, std::index_sequence<I...>> {
 public:
  using value_type = Value;
  using dim_range_type = blocked_range<Value>;
  using size_type = typename dim_range_type::size_type;

  /// A range for each dimension: braces {begin, end, grainsize} or blocked_range objects.
  nd_range(each_of<dim_range_type, I> const&... dims) : dims_{dims...} {}

  /// [0, size[i]) for each dimension i.
  explicit nd_range(Value const (&size)[N], size_type grainsize = 1)
      : dims_{dim_range_type(Value(0), size[I], grainsize)...} {}

  nd_range(nd_range& r, split s) : nd_range(r) { divide(r, s); }
  nd_range(nd_range& r, proportional_split& p) : nd_range(r) { divide(r, p); }

  static constexpr unsigned dim_count() { return N; }
  static constexpr unsigned ndims() { return N; }
  dim_range_type const& dim(unsigned i) const { return dims_[i]; }
  bool empty() const {
    for (auto const& d : dims_) {
      if (d.empty()) return true;
    }
    return false;
  }
  bool is_divisible() const {
    for (auto const& d : dims_) {
      if (d.is_divisible()) return true;
    }
    return false;
  }

 private:
  template <class Split>
  void divide(nd_range& r, Split& how) {
    std::size_t most = 0;
    for (std::size_t i = 1; i != N; ++i) {
      if (detail::grains(dims_[most]) < detail::grains(dims_[i])) most = i;
    }
    dims_[most] = dim_range_type(r.dims_[most], how);
  }

  std::array<dim_range_type, N> dims_;
};
}  // namespace detail

template <class Value, unsigned N>
class blocked_nd_range : public detail::nd_range<Value, N> {
  static_assert(N > 0, "tbb::blocked_nd_range needs at least one dimension.");
  using base = detail::nd_range<Value, N>;

 public:
  using base::base;
  blocked_nd_range(blocked_nd_range const&) = default;
  blocked_nd_range& operator=(blocked_nd_range const&) = default;
  blocked_nd_range(blocked_nd_range& r, split s) : base(static_cast<base&>(r), s) {}
  blocked_nd_range(blocked_nd_range& r, proportional_split p) : base(static_cast<base&>(r), p) {}
};

template <class Value, class... More>
blocked_nd_range(blocked_range<Value>, blocked_range<More>...) -> blocked_nd_range<Value, 1 + sizeof...(More)>;
template <class Value, unsigned N>
blocked_nd_range(Value const (&)[N]) -> blocked_nd_range<Value, N>;
template <class Value, unsigned N>
blocked_nd_range(Value const (&)[N], typename blocked_range<Value>::size_type) -> blocked_nd_range<Value, N>;
template <class Value, unsigned... N>
requires(sizeof...(N) > 1) blocked_nd_range(Value const (&... dims)[N])
->blocked_nd_range<Value, sizeof...(N)>;
template <class Value, unsigned N>
blocked_nd_range(blocked_nd_range<Value, N>, split) -> blocked_nd_range<Value, N>;
template <class Value, unsigned N>
blocked_nd_range(blocked_nd_range<Value, N>, proportional_split) -> blocked_nd_range<Value, N>;

}  // namespace tbb
