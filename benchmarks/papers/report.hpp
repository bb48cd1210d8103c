// The options of a reproduction, and the output of its tables and plots.
#pragma once

#include <fmt/format.h>

#include <cerrno>  // errno
#include <cstdint>
#include <cstdio>   // fflush
#include <cstring>  // strerror
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "plot.hpp"
#include "table.hpp"

namespace papers {

struct request {
  bool quick = false;                  ///< small enough for a test: shows that the command runs, not the paper's result
  std::uint64_t seed = 1;              ///< the same seed gives the same figures, bit for bit, if nothing is measured
  unsigned rounds = 3;                 ///< seeds (tables show their mean), or measurements (median or least)
  std::string svg;                     ///< file for the plot; empty: none
  std::string workers = "1,2,4..max";  ///< a list of numbers of workers, where real runs are measured
};

inline void heading(std::string_view text) {
  fmt::print("\n### {}\n\n", text);
}

inline void print(table const& t) {
  fmt::print("{}", t.text());
  std::fflush(stdout);  // the next table may take a while
}

/// Throws if the file cannot be written.
inline void write_plot(request const& wanted, std::string_view title, std::vector<panel> const& panels) {
  if (wanted.svg.empty()) return;
  errno = 0;
  std::ofstream out{wanted.svg};
  out << plot(title, panels);
  if (!out.flush())
    throw std::runtime_error{
        fmt::format("cannot write the plot {}: {}; name a file in a folder that exists and has room", wanted.svg,
                    errno != 0 ? std::strerror(errno) : "output error")};
  fmt::print("\nplot: {}\n", wanted.svg);
}

}  // namespace papers
