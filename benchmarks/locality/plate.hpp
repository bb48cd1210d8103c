// A square plate of numbers with a fixed rim, as heat and SOR have it.
#pragma once

#include <cstddef>  // size_t
#include <vector>

#include "program.hpp"

namespace locality {

/// n x n numbers, row by row.
class plate {
 public:
  explicit plate(std::size_t n) : n_{n}, values_(n * n) {}

  std::size_t size() const { return n_; }
  double* operator[](std::size_t row) { return values_.data() + row * n_; }
  double const* operator[](std::size_t row) const { return values_.data() + row * n_; }
  bool operator==(plate const&) const = default;

  /// Random numbers of [1, 2), with symmetric left and right halves. They do not start at zero: values that diffuse
  /// from zero are at first too small for the processor's fast arithmetic.
  void fill() {
    random_numbers random{1};
    for (std::size_t i = 0; i < n_; ++i) {
      double* const row = (*this)[i];
      for (std::size_t j = 0; j < (n_ + 1) / 2; ++j) row[j] = row[n_ - 1 - j] = 1 + random.unit();
    }
  }

  range inner_rows() const { return {1, n_ - 1}; }
  double inner_elements() const { return static_cast<double>((n_ - 2) * (n_ - 2)); }

 private:
  std::size_t n_;
  std::vector<double> values_;
};

}  // namespace locality
