// Checkers (CAB): the game tree from the first position, to a fixed depth, by plain minimax. A kernel, as
// examples/kernels has them.
#pragma once

#include <algorithm>  // max
#include <array>
#include <cstddef>  // size_t
#include <cstdint>
#include <string>

#include "../../examples/kernels/kernel.hpp"
#include "checkers_board.hpp"

namespace locality {

class checkers {
 public:
  static constexpr kernels::description about{.name = "checkers",
                                              .problem = "all games of checkers, n moves deep, by minimax",
                                              .size_means = "depth n",
                                              .smallest = 1,
                                              .largest = 13,
                                              .test = 6,
                                              .usual = 9,
                                              .published = 10};
  static constexpr std::size_t serial_depth = 2;  ///< less deep is not worth a task

  struct outcome {
    int value = lost;         ///< for the player to move
    std::uint64_t lines = 0;  ///< of play, of the full length

    bool operator==(outcome const&) const = default;
  };

  explicit checkers(std::size_t depth) : depth_{depth} {}

  void prepare() { result_ = {}; }
  void serial() { result_ = plain(checkers_position{}, depth_); }
  template <class Context>
  void parallel(Context ctx) {
    result_ = forked(ctx, checkers_position{}, depth_);
  }
  outcome const& result() const { return result_; }

  /// How many lines of play there are is known.
  std::string check() const {
    constexpr std::array<std::uint64_t, about.largest + 1> lines{
        1,       7,       49,        302,        1'469,      7'361,       36'768,
        179'740, 845'931, 3'963'680, 18'391'564, 85'242'128, 388'623'673, 1'766'623'630};
    return kernels::expect_equal(result_.lines, lines[depth_]);
  }

 private:
  static constexpr int lost = -1000;

  static outcome best(outcome const& a, outcome const& b) { return {std::max(a.value, b.value), a.lines + b.lines}; }
  static outcome seen_by_other(outcome const& o) { return {-o.value, o.lines}; }

  static outcome plain(checkers_position const& p, std::size_t depth) {
    if (depth == 0) return {p.material(), 1};
    checkers_moves const moves{p};
    outcome result;
    for (std::size_t i = 0; i < moves.size(); ++i) result = best(result, seen_by_other(plain(moves[i], depth - 1)));
    return result;
  }

  template <class Context>
  static outcome forked(Context ctx, checkers_position const& p, std::size_t depth) {
    if (depth <= serial_depth) return plain(p, depth);
    checkers_moves const moves{p};
    return moves.size() == 0 ? outcome{} : replies(ctx, moves, 0, moves.size(), depth);
  }

  /// One task for each of the moves, handed out by halving.
  template <class Context>
  static outcome replies(Context ctx, checkers_moves const& moves, std::size_t first, std::size_t last,
                         std::size_t depth) {
    if (last - first == 1) return seen_by_other(forked(ctx, moves[first], depth - 1));
    std::size_t const middle = first + (last - first) / 2;
    auto const [a, b] = ctx.fork_join([&, middle](Context c) { return replies(c, moves, first, middle, depth); },
                                      [&, middle](Context c) { return replies(c, moves, middle, last, depth); });
    return best(a, b);
  }

  std::size_t depth_;
  outcome result_;
};

}  // namespace locality
