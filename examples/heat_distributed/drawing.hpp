// The plate as SVG, with the ranks of its strips.
#pragma once

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "row_blocks.hpp"

namespace example {

/// Blue is 0 degrees, red is 100. A thin line separates strips, and a thick line separates ranks.
inline void draw(std::string const& file, row_blocks const& s, cells const& all, std::vector<int> const& ranks) {
  std::size_t const rows = s.of.rows, columns = s.of.columns;
  std::size_t const most = 96, down = std::min(rows, most), across = std::min(columns, most);
  double const cell = 6, width = static_cast<double>(across) * cell, height = static_cast<double>(down) * cell;
  std::ofstream out{file};
  out << "<svg xmlns='http://www.w3.org/2000/svg' width='" << width + 80 << "' height='" << height
      << "' font-family='sans-serif' font-size='12'>\n<rect width='100%' height='100%' fill='white'/>\n";
  for (std::size_t y = 0; y < down; ++y) {
    for (std::size_t x = 0; x < across; ++x) {
      double const t = std::clamp(all[y * rows / down * columns + x * columns / across] / 100, 0.0, 1.0);
      out << "<rect x='" << static_cast<double>(x) * cell << "' y='" << static_cast<double>(y) * cell << "' width='"
          << cell << "' height='" << cell << "' fill='rgb(" << static_cast<int>(255 * t) << ","
          << static_cast<int>(80 * (1 - t)) << "," << static_cast<int>(255 * (1 - t)) << ")'/>\n";
    }
  }
  for (std::size_t i = 0; i < s.count; ++i) {
    double const y = height * static_cast<double>(s.first_row(i)) / static_cast<double>(rows);
    if (i > 0) {
      out << "<line x1='0' x2='" << width << "' y1='" << y << "' y2='" << y << "' stroke='white' stroke-width='"
          << (ranks[i] == ranks[i - 1] ? 0.5 : 3) << "'/>\n";
    }
    if (i == 0 || ranks[i] != ranks[i - 1])
      out << "<text x='" << width + 8 << "' y='" << y + 14 << "'>rank " << ranks[i] << "</text>\n";
  }
  out << "</svg>\n";
  if (!out) throw std::runtime_error{"cannot write " + file};
}

}  // namespace example
