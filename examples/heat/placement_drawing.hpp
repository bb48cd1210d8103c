// The placement as a picture. Each step is a column, and each row of the plate is a dot in it. The colour of the dot is
// the squad (or worker) that computed the row.
#pragma once

#include <fmt/format.h>

#include <algorithm>  // clamp, max
#include <cstddef>    // size_t
#include <string>

#include "colors.hpp"
#include "image.hpp"
#include "placement.hpp"

namespace heat {

/// The layout of the picture. Row numbers are at the left, the matrix is in the middle, and the legend is at the right.
/// Step numbers are below.
struct placement_layout {
  static constexpr std::size_t gap = 8, swatch = 14, legend_line = swatch + 4;

  explicit placement_layout(placement_record const& r) : steps{r.kept_steps()} {
    constexpr std::size_t wanted_width = 900, wanted_height = 600, largest_cell = 16, most_dots = 4000;
    rows_per_dot = (r.rows() + most_dots - 1) / most_dots;
    dots = (r.rows() + rows_per_dot - 1) / rows_per_dot;
    cell_width = std::clamp(wanted_width / std::max(steps, std::size_t{1}), std::size_t{1}, largest_cell);
    cell_height = std::clamp(wanted_height / dots, std::size_t{1}, largest_cell);
    left = text_width(fmt::format("{}", r.rows())) + gap / 2;
    legend_left = left + std::max(steps * cell_width, text_width(fmt::format("1 {}", steps))) + gap;
    height = std::max(dots * cell_height, std::min(r.id_count(), std::size_t{16}) * legend_line);
    legend_lines = std::min(r.id_count(), height / legend_line);
  }

  /// The pixel in the middle of a dot. Steps and rows count from 0.
  std::size_t x_of(std::size_t step) const { return left + step * cell_width + cell_width / 2; }
  std::size_t y_of(std::size_t row) const { return row / rows_per_dot * cell_height + cell_height / 2; }
  std::size_t legend_y_of(std::size_t id) const { return id * legend_line + swatch / 2; }
  std::size_t width() const { return legend_left + swatch + 4 + text_width("0000"); }
  std::size_t full_height() const { return height + gap / 2 + text_height; }

  std::size_t steps;
  std::size_t rows_per_dot;  ///< 1: every row is shown; n: every n-th row
  std::size_t dots;          ///< in a column
  std::size_t cell_width, cell_height;
  std::size_t left, height;  ///< matrix: first pixel column, height; its top is 0
  std::size_t legend_left;
  std::size_t legend_lines;  ///< as many as fit
};

inline image draw(placement_record const& r) {
  placement_layout const at{r};
  image drawing{at.width(), at.full_height()};
  for (std::size_t step = 0; step < at.steps; ++step) {
    for (std::size_t d = 0; d < at.dots; ++d) {
      drawing.fill(at.left + step * at.cell_width, d * at.cell_height, at.cell_width, at.cell_height,
                   placement_color(r.at(step, d * at.rows_per_dot)));
    }
  }

  for (std::size_t id = 0; id < at.legend_lines; ++id) {
    drawing.fill(at.legend_left, id * placement_layout::legend_line, placement_layout::swatch, placement_layout::swatch,
                 placement_color(id));
    drawing.write(at.legend_left + placement_layout::swatch + 4, id * placement_layout::legend_line + 2,
                  fmt::format("{}", id));
  }

  auto const last_row = fmt::format("{}", r.rows()), last_step = fmt::format("{}", at.steps);
  std::size_t const bottom = at.dots * at.cell_height;
  drawing.write(0, 0, "1");
  if (bottom > 2 * text_height) drawing.write(0, bottom - text_height, last_row);
  std::size_t const below = at.height + placement_layout::gap / 2;
  drawing.write(at.left, below, "1");
  drawing.write(at.legend_left - placement_layout::gap - text_width(last_step), below, last_step);
  return drawing;
}

}  // namespace heat
