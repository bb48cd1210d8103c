// The executors in which the tests of algorithms run.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/measure.hpp"
#include "heist/policy.hpp"
#include "heist/replay.hpp"
#include "heist/tiers.hpp"
#include "heist/topology.hpp"
#include "support/catch.hpp"
#include "support/slow.hpp"

namespace heist_test {

/// A test's body: algorithms with heist::context are compiled once for all executors.
using algorithm_body = std::function<void(heist::context)>;

template <class Policy>
void in_executor(std::string const& name, heist::options const& wanted, algorithm_body const& body) {
  INFO(name);
  heist::executor<Policy> ex{wanted};
  INFO(ex.worker_count() << " workers");
  ex.invoke([&](auto ctx) { body(ctx); });
}

/// Like in_executor(), but three times as a region's run: profiled and divided, or recorded and followed.
template <class Policy>
void in_region(std::string const& name, heist::options const& wanted, algorithm_body const& body) {
  INFO(name);
  heist::executor<Policy> ex{wanted};
  INFO(ex.worker_count() << " workers");
  heist::region phase{{.branching = 2, .bytes = 64u << 20}};
  for (int run = 0; run != 3; ++run) {
    INFO("run " << run << " of a region");
    ex.invoke(phase, [&](auto ctx) { body(ctx); });
    if (run == 0 && !phase.tree().empty()) phase.follow(phase.tree(), heist::replay_mode::strict_unordered);
  }
}

/// Runs `body` as a task of executors of every order, alone and with several workers, in tiers, recorded and followed.
inline void in_every_executor(algorithm_body const& body) {
  using heist::policy::random;
  using child_first = heist::policy::with_order<random, heist::order::child_first>;
  for (std::size_t const workers : {1u, 2u, 3u, 8u}) {
    if (slow && workers == 3) continue;
    in_executor<random>("parent-first", {.workers = workers}, body);
    if (!slow || workers != 2) in_executor<child_first>("child-first", {.workers = workers}, body);
  }
  heist::options const squads{.machine = heist::topology::parse("package:2 l3:1(size=256KiB) core:2 pu:1")};
  in_region<heist::policy::cab>("cab", squads, body);
  if constexpr (!slow) {
    in_executor<heist::policy::cats>("cats", squads, body);
    in_region<heist::policy::cats>("cats", squads, body);
  }
  in_executor<heist::policy::replay>("replay", {.workers = 3}, body);
  in_region<heist::policy::replay>("replay", {.workers = 3}, body);
}

/// Lengths around every boundary: of leaves, of blocks, of serial sorts.
inline constexpr std::size_t boundary_lengths[] = {
    0, 1, 2, 3, 15, 24, 25, 63, 64, 65, 511, 512, 513, 1025, 4095, 4096, 4097, 8193, slow ? 17'001 : 50'001};
/// Lengths around the leaves of reductions and scans, and around four leaves.
inline constexpr std::size_t leaf_lengths[] = {
    0,   1,    2,    15,   16,   17,   255,  256,  257,  511,    512,
    513, 1023, 1024, 1025, 2047, 2048, 2049, 4096, 4097, 40'961, slow ? 41'001 : 50'001};

}  // namespace heist_test
