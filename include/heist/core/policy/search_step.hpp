// One step of a search, as worker loop and simulator do it: what a victim policy is asked and told, and what else a thief
// does at which attempt.
#pragma once

#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/core/policy/victim.hpp"

namespace heist::detail {

/// By the number of the attempt since the search began: does the thief, before it tries a victim,
struct search_step {
  /// take tasks that are meant for other workers? So it does shortly before it first sleeps.
  static constexpr bool is_last_resort(std::uint32_t attempt) noexcept { return attempt % last_resort == 0; }
  static constexpr std::uint32_t last_resort = 48;
  /// open task stacks whose owners do not answer? These attempts have taken some microseconds.
  static constexpr bool opens_stacks(std::uint32_t attempt) noexcept { return attempt % 16 == 0; }
};

/// The promises (core/policy/victim.hpp) that are checked while a policy is asked.
enum class victim_promise : std::uint8_t { names_a_worker, looks_at_others };

/// Asks which worker to steal from: `named`. True: the policy wants to see that worker's offer first. Then the caller
/// shows it by looked(), and asks again. Calls check(holds, promise).
template <class Victim, class Random, class Check>
HEIST_ALWAYS_INLINE bool ask_for_victim(Victim& victim, heist::victim::thief_view const& me, Random& random,
                                        std::uint32_t& named, Check&& check) {
  named = victim.next(me, random);
  check(named < me.workers, victim_promise::names_a_worker);
  if constexpr (heist::victim::sampling_policy<Victim>) {
    if (victim.wants_look()) {
      check(named != me.self, victim_promise::looks_at_others);
      return true;
    }
  }
  return false;
}

/// Tells the outcome of an attempt at `named`. `is_thief()`: does that worker search, too?
template <class Victim, class IsThief>
HEIST_ALWAYS_INLINE void tell_outcome(Victim& victim, std::uint32_t named, heist::victim::outcome what,
                                      IsThief&& is_thief) {
  victim.feedback(named, what);
  if constexpr (heist::victim::thief_counting_policy<Victim>) {
    if (what == heist::victim::outcome::empty && is_thief()) victim.met_thief(named);
  }
}

}  // namespace heist::detail
