// Five-point heat (CAB, CATS): each element of a plate becomes the mean of its four neighbours, from one array to the
// other (Jacobi).
#pragma once

#include <heist/core/base/config.hpp>

#include <fmt/format.h>

#include <array>
#include <cstddef>  // size_t
#include <limits>
#include <string>

#include "plate.hpp"
#include "program.hpp"

namespace locality {

class heat_plate {
 public:
  static constexpr description about{.name = "heat",
                                     .problem = "five-point heat on n x n elements, two arrays",
                                     .size_means = "rows n",
                                     .smallest = 3,
                                     .largest = 16'384,
                                     .test = 515,
                                     .usual = 362,
                                     .leaf = 23,
                                     .steps = 2000};
  static constexpr std::size_t sweeps_per_step = 1;
  static std::size_t bytes_for(std::size_t n) { return 2 * n * n * sizeof(double); }

  explicit heat_plate(std::size_t n) : plates_{plate{n}, plate{n}} {}

  void prepare() {
    plates_[0].fill();
    plates_[1] = plates_[0];
  }

  std::size_t most_sweeps() const { return std::numeric_limits<std::size_t>::max(); }
  range rows(std::size_t) const { return plates_[0].inner_rows(); }
  void compute(std::size_t sweep, range part) {
    plate const& from = plates_[sweep % 2];
    plate& to = plates_[(sweep + 1) % 2];
    for (std::size_t i = part.first; i < part.last; ++i) relax(from[i - 1], from[i], from[i + 1], to[i], from.size());
  }
  double work(std::size_t) const { return plates_[0].inner_elements(); }
  std::size_t touched(std::size_t, range part) const { return 2 * part.size() * plates_[0].size() * sizeof(double); }

  plate const& result(std::size_t sweeps) const { return plates_[sweeps % 2]; }

  /// A plate that began symmetric stays symmetric, to the bit; and no element gets warmer than the warmest was.
  std::string check(std::size_t sweeps) const {
    plate const& now = result(sweeps);
    std::size_t const n = now.size();
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        if (now[i][j] != now[i][n - 1 - j]) return fmt::format("element {}, {} is not symmetric", i, j);
        if (!(now[i][j] >= 1 && now[i][j] < 2)) return fmt::format("element {}, {} is {}", i, j, now[i][j]);
      }
    }
    return {};
  }

 private:
  HEIST_NOINLINE static void relax(double const* above, double const* here, double const* below, double* to,
                                   std::size_t n) {
    for (std::size_t j = 1; j + 1 < n; ++j) to[j] = 0.25 * ((here[j - 1] + here[j + 1]) + (above[j] + below[j]));
  }

  std::array<plate, 2> plates_;
};

}  // namespace locality
