// The plate once more, in the plainest way: nothing shared with the example but the description.
#pragma once

#include <algorithm>  // max, min
#include <cmath>
#include <cstddef>
#include <vector>

#include "examples/heat/plate.hpp"

namespace heat_test {

class serial_oracle {
 public:
  using grid = std::vector<std::vector<double>>;

  explicit serial_oracle(heat::plate_description const& what)
      : temperatures_(what.rows, std::vector<double>(what.columns)),
        is_fixed_(what.rows, std::vector<bool>(what.columns)) {
    auto const height = static_cast<double>(what.rows - 1), width = static_cast<double>(what.columns - 1);
    for (std::size_t y = 0; y < what.rows; ++y) {
      for (std::size_t x = 0; x < what.columns; ++x) {
        if (x == 0) fix(y, x, what.edges.left);
        if (x == what.columns - 1) fix(y, x, what.edges.right);
        if (y == 0) fix(y, x, what.edges.top);
        if (y == what.rows - 1) fix(y, x, what.edges.bottom);
        if (x == 0 || y == 0 || x == what.columns - 1 || y == what.rows - 1) continue;
        for (auto const& s : what.spots) {
          double const dx = static_cast<double>(x) - s.x / 100 * width,
                       dy = static_cast<double>(y) - s.y / 100 * height;
          double const radius = s.radius / 100 * std::min(width, height);
          bool const centre = static_cast<double>(x) == std::round(s.x / 100 * width) &&
                              static_cast<double>(y) == std::round(s.y / 100 * height);
          if (centre || dx * dx + dy * dy <= radius * radius) fix(y, x, s.degrees);
        }
      }
    }
  }

  /// The largest change of a cell.
  double step() {
    grid after = temperatures_;
    double largest = 0;
    for (std::size_t y = 0; y < after.size(); ++y) {
      for (std::size_t x = 0; x < after[y].size(); ++x) {
        if (is_fixed_[y][x]) continue;
        auto const& t = temperatures_;
        after[y][x] = (t[y][x - 1] + t[y][x + 1] + t[y - 1][x] + t[y + 1][x]) / 4;
        largest = std::max(largest, std::abs(after[y][x] - t[y][x]));
      }
    }
    temperatures_ = after;
    return largest;
  }

  grid const& temperatures() const { return temperatures_; }

 private:
  void fix(std::size_t y, std::size_t x, double degrees) {
    temperatures_[y][x] = degrees;
    is_fixed_[y][x] = true;
  }

  grid temperatures_;
  std::vector<std::vector<bool>> is_fixed_;
};

inline serial_oracle::grid temperatures_of(heat::plate const& p) {
  serial_oracle::grid result;
  for (std::size_t row = 0; row < p.rows(); ++row) result.emplace_back(p.now(row).begin(), p.now(row).end());
  return result;
}

}  // namespace heat_test
