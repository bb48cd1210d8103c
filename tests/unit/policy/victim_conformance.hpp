// The promises that every victim policy must hold under every driver (V1, V2, V4). A policy may ignore feedback and the
// other notifications (V3). One line per policy registers it: every_victim.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <tuple>
#include <utility>  // move
#include <vector>

#include "examples/write_a_policy/grateful.hpp"
#include "heist/core/policy/hierarchical.hpp"
#include "heist/core/policy/sampling.hpp"
#include "heist/core/policy/victim.hpp"
#include "heist/core/policy/victim_set.hpp"
#include "heist/core/policy/victim_watch.hpp"
#include "heist/core/topology/machine.hpp"
#include "heist/core/topology/squads.hpp"

namespace heist_test {

using heist::fast_random;
using heist::victim::offer;
using heist::victim::outcome;
using heist::victim::thief_view;

using every_victim = std::tuple<       //
    heist::victim::random,             //
    heist::victim::permuted,           //
    heist::victim::victim_set<>,       //
    heist::victim::victim_set<1, 0>,   //
    heist::victim::victim_set<64, 4>,  //
    heist::victim::sampling<>,         //
    heist::victim::sampling<1>,        //
    heist::victim::sampling<heist::victim::square_root_of_workers>,
    heist::victim::sampling<20, heist::victim::most_tasks>,  // more samples than workers
    heist::victim::sampled<heist::victim::permuted, 8>,      //
    heist::victim::sampling_victim_set<>,                    //
    heist::victim::sampling_victim_set<20, 3, 1>,            //
    heist::victim::hierarchical,                             //
    heist::victim::sampled<heist::victim::hierarchical, 3>,  //
    grateful>;

/// When the driver calls begin(), for policies that have it.
enum class begins { never, once, every_attempt, every_seventh };
/// Where the workers are, for policies that are told. `alone`: one squad each.
enum class places { untold, one_squad, three_packages, rings, alone };
/// The offer of a sampled worker; `ignored`: the driver does not look.
enum class shows { ignored, nothing, less_the_higher_its_number, anything };

struct driver {
  begins begin;
  shows show;
  outcome what;   ///< of every attempt
  bool feedback;  ///< it is told
  bool thieves;   ///< every victim searches
  places place = places::untold;
};

/// A machine for as many workers: NUMA nodes in a row, whose distances grow with it.
inline heist::topology::machine machine_of_nodes(std::uint32_t nodes, std::uint32_t cores_of_each) {
  heist::topology::machine m;
  for (std::uint32_t i = 0; i != nodes * cores_of_each; ++i) {
    auto const node = static_cast<std::int32_t>(i / cores_of_each), core = static_cast<std::int32_t>(i);
    m.pus.push_back({.os_index = i, .core = core, .l2 = core, .l3 = node, .numa = node, .package = node});
  }
  for (std::uint32_t i = 0; i != nodes; ++i) {
    for (std::uint32_t k = 0; k != nodes; ++k)
      m.numa_distances.push_back(i == k ? 10 : 15 + 5 * (i < k ? k - i : i - k));
  }
  return m;
}

template <class Policy>
void tell_places(Policy& policy, thief_view const& me, places where) {
  if constexpr (heist::victim::placed_policy<Policy>) {
    if (where == places::untold) return;
    std::uint32_t const nodes = where == places::one_squad ? 1 : where == places::three_packages ? 3 : 16;
    auto const m = where == places::alone ? machine_of_nodes(me.workers, 1)
                                          : machine_of_nodes(nodes, (me.workers + nodes - 1) / nodes);
    policy.place(me, m, heist::topology::make_squads(m, heist::squad_by::numa, me.workers));
  }
}

/// Every way to drive the policy, including drivers that ignore its requests.
template <class Policy>
std::vector<driver> every_driver() {
  std::vector<driver> all;
  for (auto const b : {begins::never, begins::once, begins::every_attempt, begins::every_seventh}) {
    for (auto const s : {shows::ignored, shows::nothing, shows::less_the_higher_its_number, shows::anything}) {
      for (auto const w : {outcome::stolen, outcome::empty, outcome::lost}) all.push_back({b, s, w, true, true});
      all.push_back({b, s, outcome::empty, true, false});
      all.push_back({b, s, outcome::empty, false, false});
    }
  }
  if constexpr (heist::victim::placed_policy<Policy>) {
    for (std::size_t i = all.size(); i-- != 0;) {
      driver d = all[i];
      if (d.show == shows::nothing || d.show == shows::anything || d.begin == begins::every_seventh) continue;
      for (auto const p : {places::one_squad, places::three_packages, places::rings, places::alone}) {
        d.place = p;
        all.push_back(d);
      }
    }
  }
  return all;
}

/// One worker's policy, driven as an executor would, and watched.
template <class Policy>
class thief {
 public:
  thief(std::uint32_t self, std::uint32_t workers, std::uint64_t seed, places where)
      : me_{self, workers}, random_{seed} {
    tell_places(policy_, me_, where);
  }

  /// Returns the thief's next victim. Stores a broken promise for broken().
  std::uint32_t attempt(driver const& d) {
    if constexpr (heist::victim::search_policy<Policy>) {
      bool const now = d.begin == begins::every_attempt || (d.begin == begins::once && attempts_ == 0) ||
                       (d.begin == begins::every_seventh && attempts_ % 7 == 0);
      if (now) policy_.begin(me_, random_);
    }
    ++attempts_;
    std::uint32_t v = name();
    if constexpr (heist::victim::sampling_policy<Policy>) {
      std::uint32_t looks = 0;
      while (d.show != shows::ignored && policy_.wants_look()) {
        if (v == me_.self) broken_ = "V4: it looks at itself";
        if (++looks > 10000) {
          broken_ = "V4: it looks for ever";
          break;
        }
        policy_.looked(v, visible(d.show, v));
        v = name();
      }
    }
    if (v != me_.self && d.feedback) {
      policy_.feedback(v, d.what);
      if constexpr (heist::victim::thief_counting_policy<Policy>) {
        if (d.thieves && d.what == outcome::empty) policy_.met_thief(v);
      }
    }
    return v;
  }

  char const* broken() const { return broken_; }
  Policy& policy() { return policy_; }

 private:
  std::uint32_t name() {
    std::uint32_t const v = policy_.next(me_, random_);
    if (v < me_.workers) return v;
    broken_ = "V1: it names a worker that does not exist";
    return me_.self;
  }
  offer visible(shows what, std::uint32_t v) {
    if (what == shows::nothing) return {};
    if (what == shows::less_the_higher_its_number) return {me_.workers - v, v};
    return {random_.below(3), random_.below(100)};
  }

  Policy policy_;
  thief_view me_;
  fast_random random_;
  std::uint64_t attempts_ = 0;
  char const* broken_ = nullptr;
};

/// Null if the policy names every worker, itself too, within a number of attempts that grows with `workers`, and again
/// after a move. Otherwise the promise that the policy breaks.
template <class Policy>
char const* names_everybody(std::uint32_t self, std::uint32_t workers, std::uint64_t seed, driver const& d) {
  thief<Policy> t{self, workers, seed, d.place};
  std::uint64_t const most = heist::victim::watch::enough(workers);
  for (int part = 0; part != 2; ++part) {
    std::vector<bool> named(workers, false);
    std::uint32_t missing = workers;
    for (std::uint64_t i = 0; missing != 0 && i != most && t.broken() == nullptr; ++i) {
      std::uint32_t const v = t.attempt(d);
      if (!named[v]) {
        named[v] = true;
        --missing;
      }
    }
    if (t.broken() != nullptr) return t.broken();
    if (missing != 0) return "V2: somebody is left out";
    Policy moved{std::move(t.policy())};
    t.policy() = std::move(moved);
  }
  return nullptr;
}

}  // namespace heist_test
