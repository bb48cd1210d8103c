// A metal plate as a grid of cells: current and next temperatures, and the cells whose temperature is fixed.
#pragma once

#include <cmath>    // round
#include <cstddef>  // size_t
#include <span>
#include <utility>  // swap
#include <vector>

namespace heat {

/// The temperatures, in degrees, of the four sides. The cells in the corners belong to the top and the bottom.
struct edge_temperatures {
  double top = 100, right = 0, bottom = 0, left = 0;
};

/// A disc that is kept at one temperature. Its centre is in percent of the plate: x of the width from the left, y of
/// the height from the top. Its radius is in percent of the shorter side. The disc contains at least the cell in its
/// centre.
struct spot {
  double x = 50, y = 50, radius = 5, degrees = 100;
};

struct plate_description {
  static constexpr std::size_t min = 3, most = 65'536;  // rows or columns; a smaller plate has no cell to compute

  std::size_t rows = 512, columns = 512;
  edge_temperatures edges{};
  std::vector<spot> spots{};  ///< later ones lie on top of earlier ones
};

/// The first and the last row and column are the edges. All other cells start at 0 degrees and are computed, except the
/// cells of spots.
///
/// Threads  different rows of `next` may be written at the same time, while all rows of `now` are read.
class plate {
 public:
  /// Columns [first, last) of a row.
  struct run {
    std::size_t first, last;
  };

  explicit plate(plate_description const& what)
      : rows_{what.rows},
        columns_{what.columns},
        stride_{(what.columns + 7) / 8 * 8 + 8},  // 512 columns get stride 520: with 512 all rows share cache sets
        now_(rows_ * stride_),
        free_runs_(rows_) {
    for (std::size_t row = 0; row < rows_; ++row) {
      double* const cells = &now_[row * stride_];
      bool const is_top = row == 0, is_bottom = row == rows_ - 1;
      cells[0] = what.edges.left;
      cells[columns_ - 1] = what.edges.right;
      if (is_top || is_bottom) {
        for (std::size_t c = 0; c < columns_; ++c) cells[c] = is_top ? what.edges.top : what.edges.bottom;
      } else {
        set_spots(what.spots, row, cells);
      }
    }
    next_ = now_;
  }

  std::size_t rows() const noexcept { return rows_; }
  std::size_t columns() const noexcept { return columns_; }
  /// The number of rows that a step computes: rows 1 to computed_rows().
  std::size_t computed_rows() const noexcept { return rows_ - 2; }
  /// The bytes of both grids, which a step reads and writes.
  std::size_t size_bytes() const noexcept { return 2 * rows_ * columns_ * sizeof(double); }

  std::span<double const> now(std::size_t row) const noexcept { return {&now_[row * stride_], columns_}; }
  std::span<double> next(std::size_t row) noexcept { return {&next_[row * stride_], columns_}; }
  /// The computed cells of a row, from left to right. All other cells hold their temperature in both grids.
  std::span<run const> free_runs(std::size_t row) const noexcept { return free_runs_[row]; }

  /// Makes the next temperatures the current ones.
  void advance() noexcept { std::swap(now_, next_); }

 private:
  void set_spots(std::vector<spot> const& spots, std::size_t row, double* cells) {
    auto& runs = free_runs_[row];
    for (std::size_t column = 1; column + 1 < columns_; ++column) {
      bool is_free = true;
      for (auto const& s : spots) {
        if (!is_in(s, row, column)) continue;
        cells[column] = s.degrees;
        is_free = false;
      }
      if (!is_free) continue;
      if (runs.empty() || runs.back().last != column) runs.push_back({column, column});
      runs.back().last = column + 1;
    }
  }

  bool is_in(spot const& s, std::size_t row, std::size_t column) const {
    auto const width = static_cast<double>(columns_ - 1), height = static_cast<double>(rows_ - 1);
    double const x = s.x / 100 * width, y = s.y / 100 * height;
    double const radius = s.radius / 100 * (width < height ? width : height);
    double const right = static_cast<double>(column) - x, down = static_cast<double>(row) - y;
    bool const is_centre = std::round(x) == static_cast<double>(column) && std::round(y) == static_cast<double>(row);
    return is_centre || right * right + down * down <= radius * radius;
  }

  std::size_t rows_, columns_, stride_;
  std::vector<double> now_, next_;
  std::vector<std::vector<run>> free_runs_;
};

}  // namespace heat
