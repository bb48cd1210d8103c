// The plate as a picture: its temperatures, and a scale beside it.
#pragma once

#include <fmt/format.h>

#include <algorithm>  // max, minmax_element
#include <cmath>      // isfinite
#include <cstddef>    // size_t
#include <string>

#include "colors.hpp"
#include "image.hpp"
#include "plate.hpp"

namespace heat {

struct temperature_range {
  double lowest, highest;

  /// Returns a value from 0 to 1; always 0 if all cells have the same temperature.
  double share_of(double degrees) const { return highest > lowest ? (degrees - lowest) / (highest - lowest) : 0; }
};

inline temperature_range range_of(plate const& p) {
  temperature_range r{p.now(0)[0], p.now(0)[0]};
  for (std::size_t row = 0; row < p.rows(); ++row) {
    auto const [least, most] = std::minmax_element(p.now(row).begin(), p.now(row).end());
    r = {std::min(r.lowest, *least), std::max(r.highest, *most)};
  }
  return r;
}

/// The layout of the picture. The plate begins in the upper left corner.
struct plate_layout {
  static constexpr std::size_t gap = 8, bar_width = 16;

  explicit plate_layout(plate const& p) {
    constexpr std::size_t smallest = 400, largest = 2000;  // pixels
    std::size_t const longer = std::max(p.rows(), p.columns());
    enlarged = std::max(smallest / longer, std::size_t{1});
    shrunk = (longer + largest - 1) / largest;
    width = pixels(p.columns());
    height = pixels(p.rows());
  }

  std::size_t pixels(std::size_t cells) const { return (cells + shrunk - 1) / shrunk * enlarged; }

  std::size_t enlarged;  ///< pixels per cell, in each direction; 1 if the plate is shrunk
  std::size_t shrunk;    ///< cells per pixel, in each direction; a pixel shows their mean; 1 if the plate is enlarged
  std::size_t width, height;
};

namespace detail {

/// The mean of the cells that one pixel, or one square of pixels, shows.
inline double mean_of(plate const& p, plate_layout const& layout, std::size_t row, std::size_t column) {
  double sum = 0;
  std::size_t const end_row = std::min(row + layout.shrunk, p.rows());
  std::size_t const end_column = std::min(column + layout.shrunk, p.columns());
  for (std::size_t r = row; r < end_row; ++r) {
    for (std::size_t c = column; c < end_column; ++c) sum += p.now(r)[c];
  }
  return sum / static_cast<double>((end_row - row) * (end_column - column));
}

}  // namespace detail

inline image draw(plate const& p) {
  plate_layout const layout{p};
  auto const range = range_of(p);
  std::string const low = fmt::format("{:.1f}", range.lowest), high = fmt::format("{:.1f}", range.highest);
  std::size_t const bar = layout.width + plate_layout::gap, numbers = bar + plate_layout::bar_width + 4;
  image drawing{numbers + std::max(text_width(low), text_width(high)), std::max(layout.height, 3 * text_height)};

  for (std::size_t row = 0; row < p.rows(); row += layout.shrunk) {
    for (std::size_t column = 0; column < p.columns(); column += layout.shrunk) {
      drawing.fill(column / layout.shrunk * layout.enlarged, row / layout.shrunk * layout.enlarged, layout.enlarged,
                   layout.enlarged, temperature_color(range.share_of(detail::mean_of(p, layout, row, column))));
    }
  }

  std::size_t const height = drawing.height();
  for (std::size_t y = 0; y < height; ++y) {
    double const share = 1 - static_cast<double>(y) / static_cast<double>(height - 1);
    drawing.fill(bar, y, plate_layout::bar_width, 1, temperature_color(share));
  }
  drawing.write(numbers, 0, high);
  drawing.write(numbers, height - text_height, low);
  return drawing;
}

}  // namespace heat
