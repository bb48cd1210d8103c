// Bodies of report.hpp.
#pragma once

#include "heist/tools/simulate/report.hpp"

#include <fmt/core.h>

#include "heist/core/base/json.hpp"

namespace heist::sim {

namespace detail {

HEIST_COLD_BODY std::string json_of(time_split const& t) {
  return fmt::format(
      R"({{"work": {}, "memory": {}, "fork_join": {}, "steal": {}, "search": {}, "waiting": {}, "asleep": {}}})",
      t.work, t.memory, t.fork_join, t.steal, t.search, t.waiting, t.asleep);
}
HEIST_COLD_BODY std::string json_of(cache_misses const& c) {
  return fmt::format(
      R"({{"accesses": {}, "private_hits": {}, "shared_hits": {}, "memory": {}, "far_memory": {}, "transfers": {}}})",
      c.accesses, c.private_hits, c.shared_hits, c.memory, c.far_memory, c.switch_count);
}
/// The elements of an array, each on a line of its own.
template <class Range, class F>
std::string json_array(Range const& all, F one) {
  std::string text = "[";
  for (auto const& each : all) text += fmt::format("{}\n    {}", text.size() == 1 ? "" : ",", one(each));
  return text + "]";
}

}  // namespace detail

HEIST_COLD_BODY time_split& time_split::operator+=(time_split const& o) noexcept {
  for (auto const field : {&time_split::work, &time_split::memory, &time_split::fork_join, &time_split::steal,
                           &time_split::search, &time_split::waiting, &time_split::asleep})
    this->*field += o.*field;
  return *this;
}

HEIST_COLD_BODY cache_misses& cache_misses::operator+=(cache_misses const& o) noexcept {
  accesses += o.accesses;
  private_hits += o.private_hits;
  shared_hits += o.shared_hits;
  memory += o.memory;
  far_memory += o.far_memory;
  switch_count += o.switch_count;
  return *this;
}

HEIST_COLD_BODY std::string report::text() const {
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
  if (cache.switch_count != 0)
    text += fmt::format("of these, {} out of other caches ({:.1f}%)\n", cache.switch_count,
                        100 * static_cast<double>(cache.switch_count) / static_cast<double>(cache.memory));
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

HEIST_COLD_BODY std::string report::to_json() const {
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
