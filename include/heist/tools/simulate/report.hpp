// The result of a simulation, as a value, as a page for people and as JSON.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/locality/policy/steal_tree.hpp"
#include "heist/tools/simulate/duration.hpp"
#include "heist/tools/simulate/page_node_map.hpp"
#include "heist/tools/simulate/recording.hpp"

namespace heist::sim {

/// How one worker has spent its time; every tick is in exactly one field.
struct time_split {
  ticks work = 0;       ///< the program's own work
  ticks memory = 0;     ///< waiting for memory
  ticks fork_join = 0;  ///< forks, joins, parking, nodes, pools, waking other workers
  ticks steal = 0;      ///< attempts that were successful, until the task starts
  ticks search = 0;     ///< everything else that is done without work and awake
  ticks waiting = 0;    ///< inside joins that wait (join::leapfrog, join::spin), with nothing to run; under a strict
                        ///< replay_mode for what the tree gives
  ticks asleep = 0;     ///< from the moment it gives up until it searches again

  ticks total() const noexcept { return work + memory + fork_join + steal + search + waiting + asleep; }
  time_split& operator+=(time_split const& o) noexcept;
  friend bool operator==(time_split const&, time_split const&) = default;
};

/// Where the memory that tasks touched was found, in lines of 64 bytes. Misses of private caches are shared_hits +
/// memory; misses of shared caches are memory. Of these, far_memory came from another NUMA node's memory
/// (options::numa), and transfers out of other caches (counted with costs::transfer only).
struct cache_misses {
  std::uint64_t accesses = 0, private_hits = 0, shared_hits = 0, memory = 0, far_memory = 0, switch_count = 0;

  std::uint64_t near_memory() const noexcept { return memory - far_memory - switch_count; }

  cache_misses& operator+=(cache_misses const& o) noexcept;
  friend bool operator==(cache_misses const&, cache_misses const&) = default;
};

/// The totals of one worker.
struct worker_report {
  time_split time;  ///< total() is the makespan
  cache_misses cache;
  std::uint64_t tasks = 0;     ///< tasks that it has ended
  std::uint64_t steals = 0;    ///< successful
  std::uint64_t attempts = 0;  ///< successful or not
  std::uint64_t looks = 0;     ///< samples
  std::uint64_t sleeps = 0;
  std::uint64_t donations = 0;  ///< rests of frames that it has got because a tree says so (options::follow)
  friend bool operator==(worker_report const&, worker_report const&) = default;
};

/// The workers' activities at one moment.
struct sample {
  ticks time = 0;
  std::uint32_t active = 0;     ///< have a task
  std::uint32_t searching = 0;  ///< awake thieves
  std::uint32_t asleep = 0;
  friend bool operator==(sample const&, sample const&) = default;
};

/// A regular value. Two simulations of the same program with the same options give equal ones.
struct report {
  std::string program;
  std::uint32_t workers = 0, squads = 0;
  std::uint64_t seed = 0;
  ticks makespan = 0;          ///< t_p: from the first task's begin to the last one's end
  ticks t1 = 0;                ///< all work, without memory and scheduling
  ticks t_inf = 0;             ///< the span
  std::uint64_t tasks = 0;     ///< that have run
  std::uint64_t steals = 0;    ///< successful ones, between workers
  std::uint64_t attempts = 0;  ///< all of them; attempts - steals have failed
  std::uint64_t looks = 0;
  std::uint64_t wakes = 0, sleeps = 0;
  std::uint64_t donations = 0;     ///< rests of frames given to the worker that a tree names, instead of steals
  std::uint64_t parks = 0;         ///< joins that waited by parking
  std::uint64_t inter_tasks = 0;   ///< inter-squad tasks (CAB, CATS) ...
  std::uint64_t inter_steals = 0;  ///< ... of which so many ran in another squad than the one whose pool they were in
  time_split time;                 ///< of all workers
  cache_misses cache;
  std::vector<cache_misses> cache_of_squad;
  std::vector<steal_tree> trees;          ///< of each run; where the policy's order is recorded. Of a graph: empty
  std::optional<page_node_map> node_map;  ///< the nodes of touched pages; with options::numa
  std::vector<ticks> run_times;           ///< of each run of the program, from the end of the one before
  std::vector<worker_report> per_worker;
  std::vector<sample> series;  ///< equally far apart
  ticks series_interval = 0;
  std::vector<std::string> notes;  ///< of policies with tiers: how each region was divided in its last run, and why; of
                                   ///< options::follow: what could not be followed
  std::optional<sim::recording> recording;

  std::uint64_t failed() const noexcept { return attempts - steals; }
  /// t_inf + t1 / p: what a greedy scheduler that costs nothing needs at most.
  double upper_bound() const noexcept {
    return static_cast<double>(t_inf) + static_cast<double>(t1) / static_cast<double>(workers);
  }
  /// max(t_inf, t1 / p): what any scheduler needs at least.
  double lower_bound() const noexcept {
    double const share = static_cast<double>(t1) / static_cast<double>(workers);
    return share > static_cast<double>(t_inf) ? share : static_cast<double>(t_inf);
  }
  /// t1 / t_p.
  double speedup() const noexcept {
    return makespan == 0 ? 1 : static_cast<double>(t1) / static_cast<double>(makespan);
  }

  /// A page for people.
  std::string text() const;
  /// Everything but the recording.
  std::string to_json() const;

  friend bool operator==(report const&, report const&) = default;
};

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/report.ipp"
#endif
