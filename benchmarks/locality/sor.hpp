// Successive over-relaxation (CAB, CATS), red-black and in place. A step is a sweep over the red elements and one over
// the black elements. All neighbours of a red element are black, and the reverse.
#pragma once

#include <heist/core/base/config.hpp>

#include <fmt/format.h>

#include <cstddef>  // size_t
#include <limits>
#include <string>

#include "plate.hpp"
#include "program.hpp"

namespace locality {

class sor_plate {
 public:
  static constexpr description about{.name = "sor",
                                     .problem = "red-black successive over-relaxation of n x n elements, in place",
                                     .size_means = "rows n",
                                     .smallest = 3,
                                     .largest = 16'384,
                                     .test = 515,
                                     .usual = 512,
                                     .leaf = 32,
                                     .steps = 700};
  static constexpr std::size_t sweeps_per_step = 2;
  static constexpr double omega = 1.5;
  static std::size_t bytes_for(std::size_t n) { return n * n * sizeof(double); }

  explicit sor_plate(std::size_t n) : plate_{n} {}

  void prepare() {
    plate_.fill();
    energy_before_ = energy();
  }

  std::size_t most_sweeps() const { return std::numeric_limits<std::size_t>::max(); }
  range rows(std::size_t) const { return plate_.inner_rows(); }
  void compute(std::size_t sweep, range part) {
    for (std::size_t i = part.first; i < part.last; ++i)
      relax(plate_[i - 1], plate_[i], plate_[i + 1], 1 + (i + sweep) % 2, plate_.size());
  }
  double work(std::size_t) const { return plate_.inner_elements() / 2; }
  std::size_t touched(std::size_t, range part) const { return part.size() * plate_.size() * sizeof(double); }

  plate const& result(std::size_t) const { return plate_; }

  /// Over-relaxation by less than two never adds to the energy, and by some at first takes away from it.
  std::string check(std::size_t sweeps) const {
    double const now = energy();
    if (now < energy_before_ || (sweeps == 0 && now == energy_before_)) return {};
    return fmt::format("the energy is {} and was {}", now, energy_before_);
  }

 private:
  HEIST_NOINLINE static void relax(double const* above, double* here, double const* below, std::size_t first,
                                   std::size_t n) {
    for (std::size_t j = first; j + 1 < n; j += 2)
      here[j] += omega * (0.25 * ((here[j - 1] + here[j + 1]) + (above[j] + below[j])) - here[j]);
  }

  /// Of a stretched membrane: the squares of the differences between neighbours.
  double energy() const {
    auto const square = [](double x) { return x * x; };
    double sum = 0;
    for (std::size_t i = 1; i < plate_.size(); ++i) {
      for (std::size_t j = 1; j < plate_.size(); ++j)
        sum += square(plate_[i][j] - plate_[i - 1][j]) + square(plate_[i][j] - plate_[i][j - 1]);
    }
    return sum;
  }

  plate plate_;
  double energy_before_ = 0;
};

}  // namespace locality
