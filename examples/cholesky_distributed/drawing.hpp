// The tasks of each worker over time: one line for each worker of each rank, as SVG.
#pragma once

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace example {

/// A task that has run. The ranks send it byte by byte: it is trivially copyable.
struct span {
  char kind;  ///< m: make, f: factor, s: solve, u: update
  int rank, worker;
  double begin, end;  ///< milliseconds since the ranks met
};

inline void draw(std::string const& file, std::vector<span> const& all, int ranks, int workers) {
  double length = 1;
  for (span const& s : all) length = std::max(length, s.end);
  double const width = 1100, line = 22, left = 90;
  std::ofstream out{file};
  out << "<svg xmlns='http://www.w3.org/2000/svg' width='" << width + left + 20 << "' height='"
      << (ranks * workers + 2) * line << "' font-family='sans-serif' font-size='12'>\n"
      << "<rect width='100%' height='100%' fill='white'/>\n";
  auto const color = [](char kind) {
    return kind == 'f' ? "#c0392b" : kind == 's' ? "#e0a030" : kind == 'u' ? "#3a78b5" : "#999999";
  };
  for (int r = 0; r < ranks; ++r) {
    for (int w = 0; w < workers; ++w) {
      double const y = (r * workers + w + 0.5) * line;
      out << "<text x='4' y='" << y + 14 << "'>rank " << r << "." << w << "</text>\n";
      for (span const& s : all) {
        if (s.rank != r || s.worker != w) continue;
        out << "<rect x='" << left + s.begin / length * width << "' y='" << y << "' width='"
            << std::max(0.3, (s.end - s.begin) / length * width) << "' height='" << line - 4 << "' fill='"
            << color(s.kind) << "'/>\n";
      }
    }
  }
  out << "<text x='" << left << "' y='" << (ranks * workers + 1.5) * line << "'>" << length
      << " ms; grey: made, red: factored, yellow: solved, blue: updated</text>\n</svg>\n";
  if (!out) throw std::runtime_error{"cannot write " + file};
}

}  // namespace example
