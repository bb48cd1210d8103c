// bench_replay fib: what recording and following cost, and how relaxed replay adapts (the paper's Fig. 2).
#pragma once

#include <cstddef>  // size_t

#include <heist/core/policy/options.hpp>

namespace replay {

struct fib_options {
  unsigned n = 38;
  unsigned cutoff = 20;  ///< below it a sequential kernel
  unsigned larger = 6;   ///< the tree of fib(n) is followed at fib(n + larger)
  std::size_t rounds = 7;
  heist::options executor;
};

/// Measures and prints; true if all results are right.
bool measure_fib(fib_options const& o);

}  // namespace replay
