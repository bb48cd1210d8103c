// Inputs of the simulator's tests: every policy, several programs, and the paper's machine of four sockets.
#pragma once

#include <string>
#include <vector>

#include "heist/simulate.hpp"
#include "support/catch.hpp"
#include "support/slow.hpp"

namespace heist_test {

namespace sim = heist::sim;
namespace policy = heist::policy;
namespace victim = heist::victim;
namespace idle = heist::idle;
namespace order = heist::order;
namespace join = heist::join;

template <class Victim, class Idle = idle::standard>
using with_victim = policy::bundle<Victim, Idle>;

/// Calls f.operator()<Policy>(name) for policies that differ in each of the five parts.
template <class F>
void for_each_policy(F f) {
  f.template operator()<policy::random>("random");
  f.template operator()<policy::hierarchical>("hierarchical");
  f.template operator()<policy::with_order<policy::random, order::child_first>>("child-first");
  f.template operator()<policy::replay>("replay");
  f.template operator()<policy::with_join<policy::random, join::leapfrog>>("leapfrog");
  f.template operator()<policy::cab>("cab");
  f.template operator()<policy::cats>("cats");
  if constexpr (!few_policies) {
    f.template operator()<policy::sampling>("sampling");
    f.template operator()<policy::victim_set>("victim_set");
    f.template operator()<with_victim<victim::sampling_victim_set<3, 2, 2>>>("sampling_victim_set");
    f.template operator()<with_victim<victim::permuted, idle::spinning>>("permuted, always awake");
    f.template operator()<policy::with_idle<policy::random, idle::adaptive>>("adaptive");
    f.template operator()<policy::with_idle<policy::random, idle::bws>>("balanced");
    f.template operator()<policy::with_join<policy::random, join::spin>>("wait");
    f.template operator()<policy::with_idle<policy::cab, idle::adaptive>>("cab, adaptive");
    f.template operator()<policy::with_idle<policy::cats, idle::bws>>("cats, balanced");
    f.template operator()<policy::with_idle<policy::cab, idle::spinning>>("cab, always awake");
  }
}

/// The 4 x 4 Opteron 8380 of CAB and CATS: 512 KiB of L2 for each core, 6 MiB of L3 for each socket.
inline heist::topology::machine four_sockets() {
  return heist::topology::parse("package:4 l3:1(size=6MiB) l2:4(size=512KiB) core:1 pu:1");
}

/// Small programs of every kind.
inline std::vector<sim::program> small_programs() {
  std::vector<sim::program> all;
  all.push_back(sim::balanced_tree({.depth = 7, .leaf = sim::exponential(900), .rounds = 2}));
  all.push_back(sim::balanced_tree({.depth = 3, .branching = 5, .leaf = sim::fixed(0)}, "tree without work"));
  all.push_back(sim::stress({.height = 6, .repetitions = 5}));
  all.push_back(sim::uts({.root_children = 50}));
  all.push_back(sim::heat({.rows = 200, .columns = 64, .steps = 6, .leaf_rows = 8}));
  all.push_back(
      sim::heat({.rows = 200, .columns = 64, .steps = 6, .leaf_rows = 8, .branching = 3, .unbalanced = true}));
  all.push_back(sim::sor({.rows = 100, .columns = 32, .steps = 3, .leaf_rows = 10}));
  all.push_back(sim::gauss_elimination({.rows = 24, .columns = 24, .leaf_rows = 3}));
  all.push_back(sim::mergesort({.elements = 5000, .leaf_elements = 100, .rounds = 2}));
  all.push_back(sim::chain({.nodes = 50, .rounds = 2}));
  all.push_back(sim::tree_graph({.depth = 6}));
  all.push_back(sim::random_graph({.nodes = 300, .work = sim::exponential(500), .rounds = 3}));
  all.push_back(sim::wavefront({.side = 9}));
  return all;
}

}  // namespace heist_test
