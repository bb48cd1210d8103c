// A part of a range in several dimensions as boxes, each of which is such a range, too.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>  // forward

#include "heist/compat/taskflow/taskflow/utility/iterator.hpp"

namespace tf {

/// Cuts a stretch of the flat numbers of a range into as few boxes as it can. Dimensions after the first that is empty
/// are passed on as they are.
template <class T, std::size_t N>
class IndexRangesPartitioner {
 public:
  using R = IndexRanges<T, N>;

  explicit IndexRangesPartitioner(R const& range) : range_{range}, box_{range} {
    while (active_ < N && range_.size(active_) != 0) ++active_;
    std::size_t stride = 1;
    for (std::size_t d = active_; d-- != 0; stride *= range_.size(d)) strides_[d] = stride;
  }

  std::size_t size() const { return range_.size(); }
  /// The number of dimensions before the first that is empty.
  std::size_t active_rank() const noexcept { return active_; }

  /// Calls visit(box) for each. Ends early, and returns true, when a visit returns true.
  template <class F>
  bool for_each_box(std::size_t from, std::size_t to, F&& visit) {
    return active_ != 0 && cut(0, from, to, visit);
  }

 private:
  template <class F>
  bool call(F& visit) {
    if constexpr (std::is_same_v<std::invoke_result_t<F&, R const&>, bool>) {
      return visit(static_cast<R const&>(box_));
    } else {
      return visit(static_cast<R const&>(box_)), false;
    }
  }
  void span(std::size_t d, std::size_t from, std::size_t to) {
    auto const [first, last, step] = range_.dim(d);
    auto const at = [first = first, step = step](std::size_t i) {
      return static_cast<T>(first + static_cast<T>(i) * step);
    };
    box_.dim(d) = {at(from), at(to), step};
  }
  template <class F>
  bool cut(std::size_t d, std::size_t from, std::size_t to, F& visit) {
    if (from >= to) return false;
    if (d + 1 == active_) return span(d, from, to), call(visit);
    std::size_t const row = strides_[d];
    std::size_t first = from / row;
    std::size_t const last = to / row;
    if (first == last) return span(d, first, first + 1), cut(d + 1, from % row, to % row, visit);
    if (from % row != 0) {
      span(d, first, first + 1);
      if (cut(d + 1, from % row, row, visit)) return true;
      ++first;
    }
    if (first != last) {
      span(d, first, last);
      for (std::size_t inner = d + 1; inner != active_; ++inner) box_.dim(inner) = range_.dim(inner);
      if (call(visit)) return true;
    }
    if (to % row == 0) return false;
    span(d, last, last + 1);
    return cut(d + 1, 0, to % row, visit);
  }

  R range_;
  R box_;
  std::size_t active_ = 0;
  std::array<std::size_t, N> strides_{};
};

}  // namespace tf
