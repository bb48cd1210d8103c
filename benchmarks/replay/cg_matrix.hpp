// The matrix of NAS cg: random, sparse, symmetric, with known largest eigenvalue of its inverse (NAS report RNR-94-007,
// section 3.3.2.2, "MAKEA").
#pragma once

#include <algorithm>  // find, stable_sort
#include <cmath>      // pow
#include <cstddef>    // size_t
#include <cstdint>
#include <tuple>  // tie
#include <vector>

#include "nas_random.hpp"

namespace replay {

/// The parameters of a size of the problem.
struct cg_class {
  std::size_t n, nonzeros;  ///< rows, and nonzero elements of each vector that the matrix is made of
  double shift;
  std::size_t steps;
  double zeta;  ///< the expected result after `steps` steps
};

/// Rows one after the other; each element a value and its column.
struct sparse_matrix {
  std::vector<std::size_t> row_begin;  ///< one more than there are rows
  std::vector<std::uint32_t> column;
  std::vector<double> value;
};

/// The sum of weighted outer products x x' of sparse random vectors, whose weights fall from 1 to 1/10. On the
/// diagonal, 1/10 is added and the shift is subtracted.
inline sparse_matrix make_cg_matrix(cg_class const& c) {
  constexpr double smallest = 0.1;
  struct element {
    std::uint32_t row, column;
    double value;
  };
  std::size_t power = 1;
  while (power < c.n) power *= 2;
  nas_random random;
  random();  // the first number is for the start vector, of which nothing is left
  std::vector<element> all;
  double const ratio = std::pow(smallest, 1.0 / static_cast<double>(c.n));
  double weight = 1;
  std::vector<std::uint32_t> places;
  std::vector<double> x;
  for (std::size_t i = 0; i < c.n; ++i, weight *= ratio) {
    places.clear();
    x.clear();
    while (places.size() < c.nonzeros) {
      double const value = random();
      auto const place = static_cast<std::uint32_t>(static_cast<double>(power) * random());
      if (place >= c.n || std::find(places.begin(), places.end(), place) != places.end()) continue;
      places.push_back(place);
      x.push_back(value);
    }
    auto const own = static_cast<std::size_t>(std::find(places.begin(), places.end(), i) - places.begin());
    if (own == places.size()) {
      places.push_back(static_cast<std::uint32_t>(i));
      x.push_back(0);
    }
    x[own] = 0.5;
    for (std::size_t a = 0; a < x.size(); ++a) {
      for (std::size_t b = 0; b < x.size(); ++b) all.push_back({places[b], places[a], x[b] * (weight * x[a])});
    }
  }
  for (std::uint32_t i = 0; i < c.n; ++i) all.push_back({i, i, smallest - c.shift});
  std::stable_sort(all.begin(), all.end(), [](element const& a, element const& b) {
    return std::tie(a.row, a.column) < std::tie(b.row, b.column);
  });

  sparse_matrix result;
  result.row_begin.reserve(c.n + 1);
  for (element const* e = all.data(); e != all.data() + all.size(); ++e) {
    bool const begins_row = e == all.data() || e[-1].row != e->row;
    if (begins_row) result.row_begin.push_back(result.value.size());
    if (begins_row || e[-1].column != e->column) {
      result.column.push_back(e->column);
      result.value.push_back(0);
    }
    result.value.back() += e->value;
  }
  result.row_begin.push_back(result.value.size());
  return result;
}

}  // namespace replay
