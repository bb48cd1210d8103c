// A fork/join program under every policy that treats forks in a way of its own, in a region and outside.
#pragma once

#include <chrono>
#include <cstddef>  // size_t
#include <string>

#include "heist/locality/policy/steal_tree.hpp"
#include "heist/policy.hpp"
#include "heist/region.hpp"
#include "heist/replay.hpp"
#include "heist/tiers.hpp"
#include "support/catch.hpp"
#include "support/rounds.hpp"
#include "support/watchdog.hpp"
#include "unit/fork/every_policy.hpp"
#include "unit/fork/tiers.hpp"

namespace heist_test {

/// Calls `program(context)` `times` times under each policy, in a region and outside. The program checks its own
/// results.
template <class Program>
void in_every_way(int times, Program program) {
  using namespace std::chrono_literals;
  auto const outside = [&]<class Policy>(Policy*, std::size_t workers) {
    INFO(workers << " workers, " << (is_child_first<Policy> ? "child-first" : "parent-first"));
    heist::executor<Policy> ex{workers};
    watchdog guard{ex, 120s, "outside of regions"};
    for (rounds left{times}; left.next();) ex.invoke([&](auto c) { program(c); });
    for (rounds left{times}; left.next();) ex.invoke([&](heist::context c) { program(c); });
  };
  for (std::size_t const workers : {1u, 2u, 4u}) {
    outside(static_cast<parent_first*>(nullptr), workers);
    outside(static_cast<child_first*>(nullptr), workers);
  }
  [[maybe_unused]] auto const tiered = [&]<class Policy>(Policy*) {
    heist::executor<Policy> ex{two_by_two()};
    watchdog guard{ex, 120s, "tiers"};
    // With levels given, the divided runs; without, one that is profiled.
    heist::region by_level{{.boundary_level = 2}}, profiled{{.branching = 2, .bytes = 1 << 20}},
        by_hand{{.tiers_by_hand = true}};
    for (auto* r : {&by_level, &profiled, &by_hand}) {
      for (rounds left{times}; left.next();) ex.invoke(*r, [&](auto c) { program(c); });
    }
    ex.invoke([&](auto c) { program(c); });
    CHECK(all_free(ex));
  };
  if constexpr (!few_policies) tiered(static_cast<heist::policy::cab*>(nullptr));
  if constexpr (!slow && !few_policies) tiered(static_cast<heist::policy::cats*>(nullptr));
  heist::executor<heist::policy::replay> ex{4};
  watchdog guard{ex, 120s, "replay"};
  heist::region recorded;
  for (rounds left{times}; left.next();) ex.invoke(recorded, [&](auto c) { program(c); });
  REQUIRE(recorded.explain() == "");
  for (auto const mode :
       {heist::replay_mode::strict_ordered, heist::replay_mode::strict_unordered, heist::replay_mode::relaxed}) {
    heist::region followed;
    followed.follow(recorded.tree(), mode);
    for (rounds left{times}; left.next();) ex.invoke(followed, [&](auto c) { program(c); });
  }
  ex.invoke([&](auto c) { program(c); });
}

}  // namespace heist_test
