// nqueens: the number of ways to place n queens (BOTS, Cilk-5, tzcnt/runtime-benchmarks). Each legal placement is a
// task that gets a copy of the board; legality is tested queen by queen.
#pragma once

#include <array>

#include "kernel.hpp"

namespace kernels {

class nqueens {
 public:
  static constexpr description about{.name = "nqueens",
                                     .problem = "in how many ways n queens fit on a board, all counted",
                                     .size_means = "n",
                                     .smallest = 1,
                                     .largest = 16,
                                     .test = 7,
                                     .usual = 11,
                                     .published = 14};
  using board = std::array<char, about.largest>;  // the row of the queen in each column

  explicit nqueens(std::size_t n) : n_{static_cast<int>(n)} {}

  void prepare() { result_ = -1; }
  void serial() { result_ = plain(n_, 0, board{}); }
  template <class Context>
  void parallel(Context ctx) {
    result_ = forked(ctx, n_, 0, board{});
  }
  long result() const { return result_; }

  std::string check() const {
    constexpr std::array<long, about.largest + 1> solutions{
        1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2'680, 14'200, 73'712, 365'596, 2'279'184, 14'772'512};
    return expect_equal(result_, solutions[static_cast<std::size_t>(n_)]);
  }

  /// Returns true if a queen may stand in that row of the next column.
  static bool legal(board const& queens, int columns, int row) {
    for (int x = 0; x < columns; ++x) {
      int const other = queens[static_cast<std::size_t>(x)];
      int const distance = columns - x;
      if (row == other || row == other - distance || row == other + distance) return false;
    }
    return true;
  }

  static long plain(int n, int columns, board const& queens) {
    if (columns == n) return 1;
    long sum = 0;
    for (int row = 0; row < n; ++row) {
      if (legal(queens, columns, row)) sum += plain(n, columns + 1, with(queens, columns, row));
    }
    return sum;
  }

  template <class Context>
  static long forked(Context ctx, int n, int columns, board const& queens) {
    if (columns == n) return 1;
    board rows;  // the kernel sets and reads the first `count` only
    int count = 0;
    for (int row = 0; row < n; ++row) {
      if (legal(queens, columns, row)) rows[static_cast<std::size_t>(count++)] = static_cast<char>(row);
    }
    if (count == 0) return 0;
    return placements(ctx, n, columns, queens, rows.data(), count);
  }

 private:
  static board with(board queens, int columns, int row) {
    queens[static_cast<std::size_t>(columns)] = static_cast<char>(row);
    return queens;
  }

  /// Runs one task for each of `count` rows, and forks them by halving.
  template <class Context>
  static long placements(Context ctx, int n, int columns, board const& queens, char const* rows, int count) {
    if (count == 1) return forked(ctx, n, columns + 1, with(queens, columns, *rows));
    int const half = count / 2;
    auto const [a, b] =
        ctx.fork_join([&, half](Context c) { return placements(c, n, columns, queens, rows, half); },
                      [&, half](Context c) { return placements(c, n, columns, queens, rows + half, count - half); });
    return a + b;
  }

  int n_;
  long result_ = -1;
};

}  // namespace kernels
