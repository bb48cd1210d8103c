// Ranges of indices, and what algorithms ask of iterators.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <functional>  // unwrap_ref_decay_t
#include <iterator>
#include <tuple>
#include <type_traits>

namespace tf {

/// Does the step never lead from `first` to `last`?
template <std::integral T>
constexpr bool is_index_range_invalid(T first, T last, T step) {
  if (first == last) return false;
  return first < last ? step <= T{0} : step >= T{0};
}

/// The number of steps.
template <std::integral T>
constexpr std::size_t distance(T first, T last, T step) {
  if (step > T{0})
    return first < last ? (static_cast<std::size_t>(last - first) + static_cast<std::size_t>(step) - 1) /
                              static_cast<std::size_t>(step)
                        : 0;
  if (step == T{0}) return 0;
  auto const down = static_cast<std::size_t>(0) - static_cast<std::size_t>(step);
  return last < first ? (static_cast<std::size_t>(first - last) + down - 1) / down : 0;
}

/// N ranges of indices, one in the other: each has a first index, an end and a step.
template <std::integral T, std::size_t N = 1>
class IndexRanges {
 public:
  using index_type = T;
  using triple = std::tuple<T, T, T>;
  static constexpr std::size_t rank = N;

  IndexRanges() = default;
  explicit IndexRanges(T first, T last, T step) requires(N == 1) : dims_{triple{first, last, step}} {}
  template <class... Ranges>
  requires(sizeof...(Ranges) == N &&
           (std::same_as<std::decay_t<Ranges>, IndexRanges<T, 1>> && ...)) explicit IndexRanges(Ranges&&... ranges)
      : dims_{ranges.dim(0)...} {}
  explicit IndexRanges(std::array<triple, N> const& dims) : dims_{dims} {}

  triple const& dim(std::size_t d) const { return dims_[d]; }
  triple& dim(std::size_t d) { return dims_[d]; }
  T begin() const requires(N == 1) { return std::get<0>(dims_[0]); }
  T end() const requires(N == 1) { return std::get<1>(dims_[0]); }
  T step_size() const requires(N == 1) { return std::get<2>(dims_[0]); }
  IndexRanges& begin(T to) requires(N == 1) { return std::get<0>(dims_[0]) = to, *this; }
  IndexRanges& end(T to) requires(N == 1) { return std::get<1>(dims_[0]) = to, *this; }
  IndexRanges& step_size(T to) requires(N == 1) { return std::get<2>(dims_[0]) = to, *this; }
  IndexRanges& reset(T first, T last, T step) requires(N == 1) {
    return dims_[0] = {first, last, step}, *this;
  }
  /// The part from one step to another.
  IndexRanges unravel(std::size_t from, std::size_t to) const requires(N == 1) {
    auto const [first, last, step] = dims_[0];
    return IndexRanges(static_cast<T>(static_cast<T>(from) * step + first),
                       static_cast<T>(static_cast<T>(to) * step + first), step);
  }

  std::size_t size(std::size_t d) const {
    auto const [first, last, step] = dims_[d];
    return tf::distance(first, last, step);
  }
  /// The product of the sizes before the first range that is empty.
  std::size_t size() const {
    std::size_t all = size(0);
    for (std::size_t d = 1; d < N && all != 0; ++d) {
      std::size_t const n = size(d);
      if (n == 0) break;
      all *= n;
    }
    return all;
  }

 private:
  std::array<triple, N> dims_;
};
template <std::integral T>
using IndexRange = IndexRanges<T, 1>;
template <std::integral T>
explicit IndexRanges(T, T, T) -> IndexRanges<T, 1>;
template <std::integral T, class... More>
explicit IndexRanges(IndexRanges<T, 1>, More...) -> IndexRanges<T, 1 + sizeof...(More)>;

template <class>
inline constexpr bool is_index_ranges_v = false;
template <class T, std::size_t N>
inline constexpr bool is_index_ranges_v<IndexRanges<T, N>> = true;

namespace detail {
/// The value of a parameter that may be a std::reference_wrapper.
template <class T>
using plain = std::decay_t<std::unwrap_ref_decay_t<T>>;

template <class C, class B1, class B2>
concept BinaryOperation = requires(C c, plain<B1> a, plain<B2> b) {
  c(*a, *b);
};
template <class C, class B, class O>
concept UnaryTransform = requires(C c, plain<B> b, plain<O> out) {
  *out = c(*b);
};
template <class C, class B1, class B2, class O>
concept BinaryTransform = requires(C c, plain<B1> a, plain<B2> b, plain<O> out) {
  *out = c(*a, *b);
};
}  // namespace detail

template <class R>
concept IndexRangesLike = is_index_ranges_v<detail::plain<R>>;
template <class T>
concept InputIteratorLike = std::input_iterator<detail::plain<T>>;

}  // namespace tf
