// A simulated worker: its activity, its next step, and the items that other workers may take from it.
#pragma once

#include <cstdint>

#include "heist/core/base/random.hpp"
#include "heist/tools/simulate/duration.hpp"
#include "heist/tools/simulate/lru_cache.hpp"
#include "heist/tools/simulate/pool.hpp"
#include "heist/tools/simulate/program.hpp"
#include "heist/tools/simulate/report.hpp"

namespace heist::sim {

/// Something that a worker can continue with.
struct item {
  enum class kind : std::uint8_t {
    nothing,
    node,                 ///< of a graph, ready
    inter,                ///< an inter-squad task
    stolen,               ///< a child that was offered
    continuation_stolen,  ///< a frame that resumes although the child it has called runs still
    resume,               ///< a frame that has waited
    next_run              ///< the task that runs the program's runs
  };
  kind what = kind::nothing;
  std::uint32_t task = none;

  explicit operator bool() const noexcept { return what != kind::nothing; }
};

/// A worker's step when the time of its present activity is over.
enum class step : std::uint8_t {
  // frames.hpp
  end_work,           ///< of a stage: fork, or resume
  call_next,          ///< the children are offered, or the first of them gets its stack
  join_next,          ///< look at the next child
  stolen_from_thief,  ///< leap-frogging: an attempt at the thief of the awaited child is made
  use_hand,           ///< begin or continue the taken task
  take_up,            ///< look into its own pools
  // searching.hpp
  search,             ///< begins
  look_round,         ///< the hold-back is over
  attempt,            ///< one more
  steal_from_peer,    ///< an attempt within the squad is made
  look,               ///< a sample is taken ...
  look_at_peer,       ///< ... within the squad
  steal_from_victim,  ///< an attempt is made
  pause,              ///< some pauses are left
};

/// Where a worker's time goes.
enum class activity : std::uint8_t { work, fork_join, steal, search, waiting, asleep };

struct worker {
  worker(std::uint64_t seed, std::uint64_t cost_seed) noexcept : random{seed}, cost_random{cost_seed} {}

  std::uint32_t number = 0;
  fast_random random;       ///< of the policies
  fast_random cost_random;  ///< of durations

  // Items that other workers may take, in the order in which they look for them.
  pool<item> deque;                   ///< nodes and frames that can resume
  pool<std::uint32_t> continuations;  ///< frames that have called a child (child-first)
  pool<std::uint32_t> published;      ///< children that it has forked (parent-first)

  // Its activity, the start of that, and the next step.
  step next = step::take_up;
  activity current_activity = activity::search;
  std::uint32_t task = none;        ///< its present task
  std::uint32_t returns_to = none;  ///< the task whose child has ended, in this very step
  item in_hand;                     ///< an item that it has taken and not begun
  std::uint32_t beneath = none;     ///< leap-frogging: the frame on top of which it begins
  ticks since = 0;                  ///< the last event
  ticks subrange = 0;               ///< the event before: the start of the activity that ends now
  ticks memory_part = 0;            ///< part of the present stretch: waiting for memory
  ticks overhead_part = 0;          ///< part of the present stretch: waking other workers
  ticks owes = 0;                   ///< time for waking other workers, added to its next step
  bool active = false;
  bool searching = false;  ///< awake, and looks for work: what thieves see
  bool asleep = false;
  bool notified = false;          ///< for the search that goes on
  bool awaits_mail = false;       ///< strict following: it has nothing, and does nothing until it is given an item
  std::uint32_t help_wanted = 0;  ///< sleepers that thieves are to wake for it (BWS)

  // The search.
  std::uint32_t victim = 0;  ///< victim of the present attempt or look
  lru_cache known;           ///< the victims that it has tried last
  std::uint32_t pauses_left = 0;
  std::uint32_t attempts = 0;  ///< of this search
  std::uint32_t looks = 0;     ///< before this attempt
  bool first_look = false;     ///< in the squad, before the injection queue
  ticks active_since = 0;
  std::uint64_t worked = 0;  ///< since its last search; in ticks of the policies' clock

  // Squads, where the policy has tiers.
  std::uint32_t squad = 0, place = 0;  ///< and its place in the squad
  bool head = false;

  worker_report told;
};

}  // namespace heist::sim
