// A cube of numbers whose opposite faces meet, and the operations of NAS mg along its rows. Each 27-point operator
// weighs an element's neighbours by the number of directions in which they differ.
#pragma once

#include <heist/core/base/config.hpp>

#include <array>
#include <cstddef>  // size_t
#include <vector>

namespace replay {

/// n x n x n, n a power of two: planes of rows. A row has its last element again before its first, and its first again
/// behind its last.
class mg_grid {
 public:
  explicit mg_grid(std::size_t n) : n_{n}, values_(n * n * (n + 2)) {}

  std::size_t size() const { return n_; }
  /// Elements 1 to n; planes and rows go round, so that -1 is the last.
  double* row(std::size_t plane, std::size_t row) { return values_.data() + offset(plane, row); }
  double const* row(std::size_t plane, std::size_t row) const { return values_.data() + offset(plane, row); }
  void clear() { values_.assign(values_.size(), 0.0); }
  bool operator==(mg_grid const&) const = default;

  /// Makes the ends of a row meet.
  static void close(double* row, std::size_t n) {
    row[0] = row[n];
    row[n + 1] = row[1];
  }

 private:
  std::size_t offset(std::size_t plane, std::size_t row) const {
    return ((plane & (n_ - 1)) * n_ + (row & (n_ - 1))) * (n_ + 2);
  }

  std::size_t n_;
  std::vector<double> values_;
};

inline constexpr std::size_t longest_mg_row = 512;

/// Around a row: sums over the four rows beside it, and over the four rows diagonally off it.
struct mg_around {
  std::array<double, longest_mg_row + 2> beside, diagonal;

  HEIST_NOINLINE mg_around(mg_grid const& g, std::size_t plane, std::size_t row) {
    double const *above = g.row(plane - 1, row), *below = g.row(plane + 1, row);
    double const *left = g.row(plane, row - 1), *right = g.row(plane, row + 1);
    double const *above_left = g.row(plane - 1, row - 1), *above_right = g.row(plane - 1, row + 1);
    double const *below_left = g.row(plane + 1, row - 1), *below_right = g.row(plane + 1, row + 1);
    for (std::size_t i = 0; i < g.size() + 2; ++i) {
      beside[i] = (left[i] + right[i]) + (above[i] + below[i]);
      diagonal[i] = (above_left[i] + above_right[i]) + (below_left[i] + below_right[i]);
    }
  }

  // Neighbours of element i of the row `here`, by the number of directions that they differ in.

  double one(double const* here, std::size_t i) const { return here[i - 1] + here[i + 1] + beside[i]; }
  double two(std::size_t i) const { return diagonal[i] + beside[i - 1] + beside[i + 1]; }
  double three(std::size_t i) const { return diagonal[i - 1] + diagonal[i + 1]; }
};

}  // namespace replay
