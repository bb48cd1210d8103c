// Heat in a line: each element becomes the weighted mean of itself and its two neighbours. The smallest stencil, so
// that nearly all of its time is the way of the data.
#pragma once

#include <heist/core/base/config.hpp>

#include <fmt/format.h>

#include <array>
#include <cstddef>  // size_t
#include <limits>
#include <string>
#include <vector>

#include "program.hpp"

namespace locality {

class heat_line {
 public:
  static constexpr description about{.name = "heat-line",
                                     .problem = "three-point heat on n elements, two arrays",
                                     .size_means = "elements n",
                                     .smallest = 3,
                                     .largest = std::size_t{1} << 28,
                                     .test = 100'000,
                                     .usual = 131'072,
                                     .leaf = 8192,
                                     .steps = 3000};
  static constexpr std::size_t sweeps_per_step = 1;
  static std::size_t bytes_for(std::size_t n) { return 2 * n * sizeof(double); }

  explicit heat_line(std::size_t n) : n_{n}, values_{std::vector<double>(n), std::vector<double>(n)} {}

  /// Symmetric, and away from zero, where numbers become small and slow.
  void prepare() {
    random_numbers random{1};
    for (std::size_t i = 0; i < (n_ + 1) / 2; ++i) values_[0][i] = values_[0][n_ - 1 - i] = 1 + random.unit();
    values_[1] = values_[0];
  }

  std::size_t most_sweeps() const { return std::numeric_limits<std::size_t>::max(); }
  range rows(std::size_t) const { return {1, n_ - 1}; }
  void compute(std::size_t sweep, range part) {
    relax(values_[sweep % 2].data(), values_[(sweep + 1) % 2].data(), part);
  }
  double work(std::size_t) const { return static_cast<double>(n_ - 2); }
  std::size_t touched(std::size_t, range part) const { return 2 * part.size() * sizeof(double); }

  std::vector<double> const& result(std::size_t sweeps) const { return values_[sweeps % 2]; }

  /// A line that began symmetric stays symmetric, to the bit; and no element gets warmer than the warmest was.
  std::string check(std::size_t sweeps) const {
    auto const& now = result(sweeps);
    for (std::size_t i = 0; i < n_; ++i) {
      if (now[i] != now[n_ - 1 - i]) return fmt::format("element {} is not symmetric", i);
      if (!(now[i] >= 1 && now[i] < 2)) return fmt::format("element {} is {}", i, now[i]);
    }
    return {};
  }

 private:
  HEIST_NOINLINE static void relax(double const* from, double* to, range part) {
    for (std::size_t i = part.first; i < part.last; ++i) to[i] = 0.25 * ((from[i - 1] + from[i + 1]) + 2 * from[i]);
  }

  std::size_t n_;
  std::array<std::vector<double>, 2> values_;
};

}  // namespace locality
