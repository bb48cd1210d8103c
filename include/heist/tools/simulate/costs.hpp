// The costs of scheduling and memory in a simulation. README.md, "Costs", gives the sources of the defaults.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

#include "heist/core/base/config.hpp"
#include "heist/tools/simulate/duration.hpp"

namespace heist::sim {

/// All in the program's unit of time; the defaults are nanoseconds.
struct costs {
  duration fork = 1;          ///< parent-first: to offer a child, for each but the first of a fork
  duration join = 1;          ///< parent-first: to take such a child back, or to see that it is stolen
  duration continuation = 4;  ///< child-first: a call of a child on a stack of its own, and the return
  duration park = 30;         ///< to leave a frame that waits at a join
  duration resume = 30;       ///< to continue with it
  duration attempt = 40;      ///< a try at a victim, until the thief knows its result: a failed steal
  duration steal = 60;        ///< time of a successful steal beyond `attempt`, until the task starts
  duration donate = 40;       ///< options::follow: to give the rest of a frame to the worker that the tree names
  duration look = 20;         ///< a sample: to see what a victim offers
  duration far = 60;          ///< added to an attempt or a look if the victim is in another squad
  /// Added to an attempt or a look if the victim is not among the last `familiar` victims of the thief: misses of its
  /// data TLB and its caches (Wool, section 2.2). If `familiar` is 0, all victims are familiar.
  duration unfamiliar = 0;
  std::uint32_t familiar = 0;
  duration inter = 100;    ///< to put a task into a squad's pool, or to take one from there
  duration pause = 25;     ///< one pause of an idle policy, and the least time between two attempts
  duration yield = 500;    ///< a yield
  duration sleep = 2000;   ///< to fall asleep
  duration wake = 30'000;  ///< from the notification of a sleeper until it searches
  duration notify = 2000;  ///< time of a notification for the worker that gives it
  duration submit = 300;   ///< entry::outside: from the end of a run until the next is in the injection queue
  duration node = 4;       ///< graphs: for each node, its arrival at its successors included

  duration private_hit = 0;   ///< a cache line found in the worker's own cache, beyond what `work` contains
  duration shared_hit = 10;   ///< one found in the squad's
  duration memory = 70;       ///< one found in neither
  duration far_memory = 120;  ///< the same, in the memory of another node (options::numa)
  /// One found in neither that other caches have had last, which it comes out of; without: as from memory.
  std::optional<duration> transfer = std::nullopt;
  /// The five costs of a line are in parts of a tick, of which this many make one. 1000: thousandths.
  std::uint32_t line_parts = 1;

  /// Ticks of the clock that idle policies are told (os_env::ticks) in one of ours.
  std::uint32_t clock = 3;

  /// Scheduling and memory cost nothing; a search still takes a tick between two attempts.
  static costs nothing() noexcept;
  /// Wool, section 4: attempts are a Poisson process with this mean interval, whether they succeed or not. Samples are
  /// one with half the interval. Nothing else costs anything.
  static costs wool_section_4(ticks mean = 1000) noexcept;
};

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/costs.ipp"
#endif
