// Which rank has what: the usual ways to deal elements, rows or tiles to processes.
#pragma once

#include <cstddef>  // size_t

#include "heist/core/base/errors.hpp"
#include "heist/graph/input.hpp"

namespace heist::place {

/// Neighbours together: the first of `count` elements to rank 0, and so on, as evenly as can be.
class block {
 public:
  block(std::size_t count, int ranks) noexcept : count_{count}, ranks_{static_cast<std::size_t>(ranks)} {}
  int operator()(std::size_t i) const noexcept {
    std::size_t const each = count_ / ranks_, more = count_ % ranks_;  // the first `more` ranks have one more
    std::size_t const long_part = more * (each + 1);
    return static_cast<int>(i < long_part ? i / (each + 1) : more + (i - long_part) / each);
  }

 private:
  std::size_t count_, ranks_;
};

/// In turn.
class cyclic {
 public:
  explicit cyclic(int ranks) noexcept : ranks_{static_cast<std::size_t>(ranks)} {}
  int operator()(std::size_t i) const noexcept { return static_cast<int>(i % ranks_); }

 private:
  std::size_t ranks_;
};

/// Two dimensions in turn, over p * q ranks: what factorisations of tiled matrices use.
class block_cyclic {
 public:
  block_cyclic(int p, int q) : p_{static_cast<std::size_t>(p)}, q_{static_cast<std::size_t>(q)} {
    if (p < 1 || q < 1) {
      throw graph_error{
          "place::block_cyclic{p, q} needs a grid of at least 1 x 1 ranks; fix it by p * q == world.size()."};
    }
  }
  /// The grid of so many ranks that is nearest to a square.
  static block_cyclic square(int ranks) {
    int p = 1;
    for (int i = 1; i * i <= ranks; ++i) {
      if (ranks % i == 0) p = i;
    }
    return {p, ranks / p};
  }
  int operator()(std::size_t row, std::size_t column) const noexcept {
    return static_cast<int>((row % p_) * q_ + column % q_);
  }

 private:
  std::size_t p_, q_;
};

}  // namespace heist::place
