// Ranges that cannot be cut anywhere, such as lists: cut while one thread walks through them once.
#pragma once

#include <cstddef>  // size_t
#include <iterator>
#include <ranges>
#include <stop_token>
#include <vector>

#include "heist/parallel/algorithm/options.hpp"
#include "heist/parallel/algorithm/ranges.hpp"

namespace heist::detail {

/// Pieces of equal length, but the last; at most `most` of them. Where they begin depends on the number of elements
/// alone.
template <class I>
class parts {
 public:
  static constexpr std::size_t most = 2048;

  /// Walks from `first` to `last`, until the stop is requested.
  template <class S>
  parts(I first, S last, std::stop_token const& stop) {
    for (; first != last; ++first, ++n_) {
      if (n_ % length_ != 0) continue;
      if (stop.stop_requested()) {
        stopped_ = true;
        return;
      }
      if (begins_.size() == most) {
        for (std::size_t i = 1; i != most / 2; ++i) begins_[i] = std::move(begins_[2 * i]);
        begins_.resize(most / 2);
        length_ *= 2;
      }
      begins_.push_back(first);
    }
  }

  /// It was not walked through to its end.
  bool stopped() const noexcept { return stopped_; }
  std::size_t count() const noexcept { return begins_.size(); }
  I const& begin(std::size_t part) const noexcept { return begins_[part]; }
  /// The number of elements of pieces [lo, hi), which follow each other.
  std::size_t elements(std::size_t lo, std::size_t hi) const noexcept {
    return (hi == count() ? n_ : hi * length_) - lo * length_;
  }
  /// A grain of so many elements, in pieces.
  loop_options options(loop_options const& wanted) const {
    loop_options in_parts = wanted;
    if (wanted.grain != loop_options::automatic)
      in_parts.grain = wanted.grain / length_ + (wanted.grain % length_ != 0 ? 1 : 0);
    return in_parts;
  }

 private:
  std::vector<I> begins_;
  std::size_t length_ = 1, n_ = 0;
  bool stopped_ = false;
};

/// Is it a range that is cut so?
template <class I, class S>
inline constexpr bool is_cut_by_walking =
    std::forward_iterator<I> && !(has_random_access<I> && std::sized_sentinel_for<S, I>);

/// A stretch, or pieces. Checks the options before it walks.
template <class I, class S>
auto cut(I first, S last, [[maybe_unused]] loop_options const& wanted) {
  if constexpr (is_cut_by_walking<I, S>) {
    check_options(wanted);
    return parts<I>(std::move(first), std::move(last), wanted.stop);
  } else {
    return detail::subrange_of(std::move(first), std::move(last));
  }
}
template <std::ranges::range R>
auto cut(R&& r, [[maybe_unused]] loop_options const& wanted) {
  if constexpr (std::ranges::forward_range<R> &&
                !(has_random_access<std::ranges::iterator_t<R>> && std::ranges::sized_range<R>)) {
    check_options(wanted);
    return parts<std::ranges::iterator_t<R>>(std::ranges::begin(r), std::ranges::end(r), wanted.stop);
  } else {
    return detail::subrange_of(r);
  }
}
/// `n` elements.
template <class I>
auto cut_n(I first, std::iter_difference_t<I> n, [[maybe_unused]] loop_options const& wanted) {
  if constexpr (std::forward_iterator<I> && !has_random_access<I>) {
    return detail::cut(std::counted_iterator<I>(std::move(first), n < 0 ? 0 : n), std::default_sentinel, wanted);
  } else {
    return detail::subrange_of(first, first + n);
  }
}

}  // namespace heist::detail
