// What came of a simulation, as a value, as a page for people and as JSON.
#pragma once

#include <fmt/format.h>

#include <cstddef>  // size_t
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "heist/base/json.hpp"
#include "heist/observe/steal_tree.hpp"
#include "heist/sim/duration.hpp"
#include "heist/sim/page_homes.hpp"
#include "heist/sim/recording.hpp"

namespace heist::sim {

/// How one worker has spent its time; every tick is in exactly one field.
struct time_split {
  ticks work = 0;       ///< what the program does itself
  ticks memory = 0;     ///< waiting for memory
  ticks fork_join = 0;  ///< forks, joins, parking, nodes, pools, waking others
  ticks steal = 0;      ///< attempts that were successful, until the task starts
  ticks search = 0;     ///< everything else that is done without work and awake
  ticks waiting = 0;    ///< inside joins that wait (join::leapfrog, join::wait), with nothing to run; under a strict
                        ///< replay_mode for what the tree gives
  ticks asleep = 0;     ///< from the moment it gives up until it searches again

  ticks total() const noexcept { return work + memory + fork_join + steal + search + waiting + asleep; }
  time_split& operator+=(time_split const& o) noexcept {
    for (auto const field : {&time_split::work, &time_split::memory, &time_split::fork_join, &time_split::steal,
                             &time_split::search, &time_split::waiting, &time_split::asleep})
      this->*field += o.*field;
    return *this;
  }
  friend bool operator==(time_split const&, time_split const&) = default;
};

/// Where the memory that tasks touched was found, in lines of 64 bytes. Misses of private caches are shared_hits +
/// memory, those of shared caches are memory; far_memory of these came from another NUMA node's (options::numa).
struct cache_misses {
  std::uint64_t accesses = 0, private_hits = 0, shared_hits = 0, memory = 0, far_memory = 0;

  std::uint64_t near_memory() const noexcept { return memory - far_memory; }

  cache_misses& operator+=(cache_misses const& o) noexcept {
    accesses += o.accesses;
    private_hits += o.private_hits;
    shared_hits += o.shared_hits;
    memory += o.memory;
    far_memory += o.far_memory;
    return *this;
  }
  friend bool operator==(cache_misses const&, cache_misses const&) = default;
};

struct worker_report {
  time_split time;  ///< total() is the makespan
  cache_misses cache;
  std::uint64_t tasks = 0;     ///< that it has ended
  std::uint64_t steals = 0;    ///< successful
  std::uint64_t attempts = 0;  ///< successful or not
  std::uint64_t looks = 0;     ///< samples
  std::uint64_t sleeps = 0;
  std::uint64_t donations = 0;  ///< rests of frames that it has got because a tree says so (options::follow)
  friend bool operator==(worker_report const&, worker_report const&) = default;
};

/// What the workers are doing at one moment.
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
  std::uint64_t donations = 0;     ///< rests of frames given to whom a tree names, instead of steals
  std::uint64_t parks = 0;         ///< joins that waited by parking
  std::uint64_t inter_tasks = 0;   ///< inter-squad tasks (CAB, CATS) ...
  std::uint64_t inter_steals = 0;  ///< ... of which so many ran in another squad than the one whose pool they were in
  time_split time;                 ///< of all workers
  cache_misses cache;
  std::vector<cache_misses> cache_of_squad;
  std::vector<steal_tree> trees;    ///< of each run; where the policy's order is recorded. Of a graph: empty
  std::optional<page_homes> homes;  ///< of the pages that were touched; with options::numa
  std::vector<ticks> run_times;     ///< of each run of the program, from the end of the one before
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

namespace detail {

inline std::string json_of(time_split const& t) {
  return fmt::format(
      R"({{"work": {}, "memory": {}, "fork_join": {}, "steal": {}, "search": {}, "waiting": {}, "asleep": {}}})",
      t.work, t.memory, t.fork_join, t.steal, t.search, t.waiting, t.asleep);
}
inline std::string json_of(cache_misses const& c) {
  return fmt::format(R"({{"accesses": {}, "private_hits": {}, "shared_hits": {}, "memory": {}, "far_memory": {}}})",
                     c.accesses, c.private_hits, c.shared_hits, c.memory, c.far_memory);
}
/// The elements of an array, each on a line of its own.
template <class Range, class F>
std::string json_array(Range const& all, F one) {
  std::string text = "[";
  for (auto const& each : all) text += fmt::format("{}\n    {}", text.size() == 1 ? "" : ",", one(each));
  return text + "]";
}

}  // namespace detail

inline std::string report::text() const {
  auto text = fmt::format("{}: {} tasks on {} workers in {} squads, seed {}\n", program, tasks, workers, squads, seed);
  text += fmt::format("makespan {}, work t1 {}, span t_inf {}\n", makespan, t1, t_inf);
  double const t = makespan == 0 ? 1 : static_cast<double>(makespan);
  text +=
      fmt::format("speedup {:.2f}; makespan / (t_inf + t1/p) {:.3f}, makespan / max(t_inf, t1/p) {:.3f}\n", speedup(),
                  upper_bound() == 0 ? 1 : t / upper_bound(), lower_bound() == 0 ? 1 : t / lower_bound());
  text += fmt::format("{} steals, {} failed attempts, {} looks, {} sleeps, {} wake-ups, {} parked joins\n", steals,
                      failed(), looks, sleeps, wakes, parks);
  if (donations != 0) text += fmt::format("{} donations along a steal tree\n", donations);
  if (inter_tasks != 0)
    text += fmt::format("{} inter-squad tasks, {} of them moved to another squad\n", inter_tasks, inter_steals);
  if (cache.accesses != 0)
    text += fmt::format("cache lines: {} touched, {} in private caches, {} in shared ones, {} from memory\n",
                        cache.accesses, cache.private_hits, cache.shared_hits, cache.memory);
  if (cache.far_memory != 0)
    text += fmt::format("of these, {} from the memory of other nodes ({:.1f}%)\n", cache.far_memory,
                        100 * static_cast<double>(cache.far_memory) / static_cast<double>(cache.memory));
  auto const percent = [all = static_cast<double>(time.total())](ticks part) {
    return all == 0 ? 0.0 : 100 * static_cast<double>(part) / all;
  };
  text += fmt::format(
      "time: work {:.2f}%, memory {:.2f}%, fork/join {:.2f}%, steal {:.2f}%, search {:.2f}%, waiting {:.2f}%, asleep "
      "{:.2f}%\n",
      percent(time.work), percent(time.memory), percent(time.fork_join), percent(time.steal), percent(time.search),
      percent(time.waiting), percent(time.asleep));
  for (auto const& note : notes) text += note + '\n';
  return text;
}

inline std::string report::to_json() const {
  auto text = fmt::format(
      "{{\"heist\": \"simulation\", \"version\": 1,\n  \"program\": {}, \"workers\": {}, \"squads\": {}, \"seed\": "
      "{},\n"
      "  \"makespan\": {}, \"t1\": {}, \"t_inf\": {}, \"tasks\": {},\n"
      "  \"steals\": {}, \"attempts\": {}, \"looks\": {}, \"wakes\": {}, \"sleeps\": {}, \"donations\": {}, \"parks\": "
      "{},\n"
      "  \"inter_tasks\": {}, \"inter_steals\": {},\n  \"time\": {},\n  \"cache\": {},\n",
      json::quote(program), workers, squads, seed, makespan, t1, t_inf, tasks, steals, attempts, looks, wakes, sleeps,
      donations, parks, inter_tasks, inter_steals, detail::json_of(time), detail::json_of(cache));
  text += "  \"notes\": " + detail::json_array(notes, [](auto const& n) { return json::quote(n); });
  text += ",\n  \"run_times\": " + detail::json_array(run_times, [](ticks t) { return fmt::format("{}", t); });
  text += ",\n  \"cache_of_squad\": " +
          detail::json_array(cache_of_squad, [](auto const& c) { return detail::json_of(c); });
  text +=
      ",\n  \"per_worker\": " + detail::json_array(per_worker, [](worker_report const& w) {
        return fmt::format(
            R"({{"tasks": {}, "steals": {}, "attempts": {}, "looks": {}, "sleeps": {}, "donations": {}, "time": {}, "cache": {}}})",
            w.tasks, w.steals, w.attempts, w.looks, w.sleeps, w.donations, detail::json_of(w.time),
            detail::json_of(w.cache));
      });
  text += fmt::format(
      ",\n  \"series_interval\": {},\n  \"series_fields\": [\"time\", \"active\", \"searching\", \"asleep\"]",
      series_interval);
  text += ",\n  \"series\": " + detail::json_array(series, [](sample const& s) {
            return fmt::format("[{}, {}, {}, {}]", s.time, s.active, s.searching, s.asleep);
          });
  return text + "\n}\n";
}

}  // namespace heist::sim
