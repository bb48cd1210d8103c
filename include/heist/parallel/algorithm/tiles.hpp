// Two dimensions as one: an order of all pairs of indices in which neighbours are near in both directions.
#pragma once

#include <cstddef>  // size_t
#include <type_traits>
#include <utility>  // in_range

#include "heist/core/base/assert.hpp"
#include "heist/core/base/config.hpp"
#include "heist/parallel/algorithm/options.hpp"

namespace heist::detail {

/// How many numbers there are from `first` up to, and without, `last`.
template <class First, class Last>
constexpr std::size_t count_of(First first, Last last) {
  using index = std::common_type_t<First, Last>;
  HEIST_ASSERT(
      std::in_range<index>(first) && std::in_range<index>(last),
      "indices from a number below 0 to one without a sign: the first becomes a large one; fix it by numbers of "
      "one type");
  auto const from = static_cast<index>(first);
  auto const to = static_cast<index>(last);
  return from < to ? static_cast<std::size_t>(to) - static_cast<std::size_t>(from) : 0;
}
template <class Index>
constexpr Index index_at(Index first, std::size_t n) noexcept {
  return static_cast<Index>(static_cast<std::size_t>(first) + n);
}

/// Bands of `height` rows; in a band tiles of `width` columns, one after the other; in a tile row by row. The last
/// band, and the last tile of each band, are the rest.
class tiles {
 public:
  static constexpr std::size_t height = 16, width = 64;

  /// Throws algorithm_error if the pairs are more than a std::size_t can count.
  tiles(index_range rows, index_range columns);
  std::size_t size() const noexcept { return rows_ * columns_; }

  /// Calls `f(i, j, end)` for the pieces (i, j), ... (i, end - 1) of rows that the pairs [lo, hi) of the order are.
  template <class F>
  void for_each_row(std::size_t lo, std::size_t hi, F&& f) const {
    while (lo != hi) {
      // Where `lo` is: band, tile, row, column.
      std::size_t const band = lo / (height * columns_);
      std::size_t const rows = least(height, rows_ - band * height);
      std::size_t const in_band = lo - band * height * columns_;
      std::size_t const tile = in_band / (width * rows);
      std::size_t const columns = least(width, columns_ - tile * width);
      std::size_t at = in_band - tile * width * rows;
      std::size_t const until = least(rows * columns, at + (hi - lo));
      lo += until - at;
      while (at != until) {
        std::size_t const row = at / columns;
        std::size_t const column = at - row * columns;
        std::size_t const n = least(columns - column, until - at);
        std::size_t const first = first_column_ + tile * width + column;
        f(first_row_ + band * height + row, first, first + n);
        at += n;
      }
    }
  }

  /// Calls `f(i, i_end, j, j_end)` for the rectangles that the pairs [lo, hi) of the order are: at most three in each
  /// tile.
  template <class F>
  void for_each_block(std::size_t lo, std::size_t hi, F&& f) const {
    std::size_t first = 0, last = 0, from = 0, to = 0;  // the rectangle so far
    for_each_row(lo, hi, [&](std::size_t i, std::size_t j, std::size_t end) {
      if (i == last && j == from && end == to && last != first) {
        ++last;
        return;
      }
      if (last != first) f(first, last, from, to);
      first = i;
      last = i + 1;
      from = j;
      to = end;
    });
    if (last != first) f(first, last, from, to);
  }

 private:
  static constexpr std::size_t least(std::size_t a, std::size_t b) noexcept { return a < b ? a : b; }

  std::size_t rows_, columns_, first_row_, first_column_;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/parallel/algorithm/tiles.ipp"
#endif
