// What every victim policy must hold (V1, V2, V4), whoever drives it. One line per policy registers it: every_victim.
#pragma once

#include <cstdint>
#include <tuple>
#include <utility>  // move
#include <vector>

#include "heist/policy/sampling.hpp"
#include "heist/policy/victim.hpp"
#include "heist/policy/victim_set.hpp"

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
    heist::victim::sampling_victim_set<20, 3, 1>>;

/// When the driver calls begin(), for policies that have it.
enum class begins { never, once, every_attempt, every_seventh };
/// What a sampled worker shows; `ignored`: the driver does not look.
enum class shows { ignored, nothing, less_the_higher_its_number, anything };

struct driver {
  begins begin;
  shows show;
  outcome what;   ///< of every attempt
  bool feedback;  ///< it is told
  bool thieves;   ///< every victim searches
};

inline std::vector<driver> every_driver() {
  std::vector<driver> all;
  for (auto const b : {begins::never, begins::once, begins::every_attempt, begins::every_seventh}) {
    for (auto const s : {shows::ignored, shows::nothing, shows::less_the_higher_its_number, shows::anything}) {
      for (auto const w : {outcome::stolen, outcome::empty, outcome::lost}) all.push_back({b, s, w, true, true});
      all.push_back({b, s, outcome::empty, true, false});
      all.push_back({b, s, outcome::empty, false, false});
    }
  }
  return all;
}

/// One worker's policy, driven as an executor would, and watched.
template <class Policy>
class thief {
 public:
  thief(std::uint32_t self, std::uint32_t workers, std::uint64_t seed) : me_{self, workers}, random_{seed} {}

  /// Whom it robs next. Notes what is against the promises in broken().
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
        policy_.looked(v, shown(d.show, v));
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
  offer shown(shows what, std::uint32_t v) {
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

/// Null if the policy names everybody, itself too, within some number of attempts that grows with `workers`, and again
/// after having been moved; else what it breaks.
template <class Policy>
char const* names_everybody(std::uint32_t self, std::uint32_t workers, std::uint64_t seed, driver const& d) {
  thief<Policy> t{self, workers, seed};
  std::uint64_t const most = 1000 * (50 + 20 * std::uint64_t{workers});
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
