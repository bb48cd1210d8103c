// Gaussian elimination (CAB, CATS): a step takes one pivot's multiples off all rows below it, which are divided among
// tasks; the pivots follow one another. The matrix becomes L and U. It is diagonally dominant, so that no rows change
// places.
#pragma once

#include <heist/core/base/config.hpp>

#include <fmt/format.h>

#include <cmath>    // abs
#include <cstddef>  // size_t
#include <string>
#include <vector>

#include "plate.hpp"
#include "program.hpp"

namespace locality {

class ge_matrix {
 public:
  static constexpr description about{.name = "ge",
                                     .problem = "Gaussian elimination of an n x n matrix, a pivot per step",
                                     .size_means = "rows n",
                                     .smallest = 2,
                                     .largest = 16'384,
                                     .test = 200,
                                     .usual = 512,
                                     .leaf = 32,
                                     .steps = 16'384};
  static constexpr std::size_t sweeps_per_step = 1;
  static std::size_t bytes_for(std::size_t n) { return n * n * sizeof(double); }

  explicit ge_matrix(std::size_t n) : matrix_{n} {}

  void prepare() { matrix_ = given(); }

  std::size_t most_sweeps() const { return matrix_.size() - 1; }
  range rows(std::size_t pivot) const { return {pivot + 1, matrix_.size()}; }
  void compute(std::size_t pivot, range part) {
    for (std::size_t i = part.first; i < part.last; ++i) eliminate(matrix_[pivot], matrix_[i], pivot, matrix_.size());
  }
  double work(std::size_t pivot) const {
    auto const left = static_cast<double>(matrix_.size() - pivot);
    return left * (left - 1);
  }
  std::size_t touched(std::size_t pivot, range part) const {
    return (part.size() + 1) * (matrix_.size() - pivot) * sizeof(double);
  }

  plate const& result(std::size_t) const { return matrix_; }

  /// When all pivots are done: L (U x) = A x for random x, to within rounding.
  std::string check(std::size_t pivots) const {
    std::size_t const n = matrix_.size();
    if (pivots + 1 < n) return {};
    plate const a = given();
    random_numbers random{2};
    std::vector<double> x(n), upper(n, 0.0);
    for (double& value : x) value = random.unit();
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i; j < n; ++j) upper[i] += matrix_[i][j] * x[j];
    }
    for (std::size_t i = 0; i < n; ++i) {
      double got = upper[i], wanted = 0;
      for (std::size_t j = 0; j < i; ++j) got += matrix_[i][j] * upper[j];
      for (std::size_t j = 0; j < n; ++j) wanted += a[i][j] * x[j];
      if (!(std::abs(got - wanted) <= 1e-12 * static_cast<double>(n) * std::abs(wanted)))
        return fmt::format("row {} of L U x is {} instead of {}", i, got, wanted);
    }
    return {};
  }

 private:
  plate given() const {
    std::size_t const n = matrix_.size();
    plate a{n};
    random_numbers random{1};
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) a[i][j] = random.unit() + (i == j ? static_cast<double>(n) : 0.0);
    }
    return a;
  }

  HEIST_NOINLINE static void eliminate(double const* pivot_row, double* row, std::size_t pivot, std::size_t n) {
    double const factor = row[pivot] / pivot_row[pivot];
    row[pivot] = factor;
    for (std::size_t j = pivot + 1; j < n; ++j) row[j] -= factor * pivot_row[j];
  }

  plate matrix_;
};

}  // namespace locality
