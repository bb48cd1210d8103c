// Tiles of a symmetric positive definite matrix, and the kernels of a tiled Cholesky factorisation.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace example {

using tile = std::vector<double>;  ///< size x size, by rows

/// Entry of the matrix of order `order`.
inline double entry(std::size_t row, std::size_t column, std::size_t order) {
  double const distance = row > column ? static_cast<double>(row - column) : static_cast<double>(column - row);
  return row == column ? static_cast<double>(order) + 1 : 1 / (1 + distance);
}

inline tile make_tile(std::size_t row, std::size_t column, std::size_t size, std::size_t order) {
  tile t(size * size);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t k = 0; k < size; ++k) t[i * size + k] = entry(row * size + i, column * size + k, order);
  }
  return t;
}

/// a = its Cholesky factor, in the lower triangle.
inline void factor(tile& a, std::size_t size) {
  for (std::size_t k = 0; k < size; ++k) {
    a[k * size + k] = std::sqrt(a[k * size + k]);
    for (std::size_t i = k + 1; i < size; ++i) a[i * size + k] /= a[k * size + k];
    for (std::size_t i = k + 1; i < size; ++i) {
      for (std::size_t j = k + 1; j <= i; ++j) a[i * size + j] -= a[i * size + k] * a[j * size + k];
    }
  }
}

/// a = a * inverse of the transposed l.
inline void solve(tile const& l, tile& a, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      double s = a[i * size + j];
      for (std::size_t k = 0; k < j; ++k) s -= a[i * size + k] * l[j * size + k];
      a[i * size + j] = s / l[j * size + j];
    }
  }
}

/// c = c - x * transposed y.
inline void update(tile const& x, tile const& y, tile& c, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      double s = 0;
      for (std::size_t k = 0; k < size; ++k) s += x[i * size + k] * y[j * size + k];
      c[i * size + j] -= s;
    }
  }
}

}  // namespace example
