// Bodies of ranks.hpp.
#pragma once

#include <algorithm>  // find, max, pop_heap, push_heap
#include <string>
#include <utility>  // move

#include "heist/tools/simulate/event_queue.hpp"
#include "heist/tools/simulate/ranks.hpp"
#include "heist/tools/simulate/sim_error.hpp"

namespace heist::sim::detail {

/// Runs the workers: a worker runs a task, then packs its value; or it unpacks a value that has come.
class rank_run {
 public:
  rank_run(std::vector<rank_task> const& tasks, rank_options const& wanted);
  rank_report run();

 private:
  /// A value in a rank.
  struct arrival {
    std::uint32_t task, rank;
  };
  /// Numbers of jobs: tasks, then arrivals.
  using job = std::uint32_t;

  void check() const;
  void ready(job j, std::uint32_t rank);
  void add_ready(job j, std::uint32_t rank);
  job take_ready(std::uint32_t rank);
  void begin(std::uint32_t rank);
  void end(job j);
  void arrived(std::uint32_t task, std::uint32_t rank);
  void send(std::uint32_t task);
  ticks time_of(job j) const;
  bool is_task(job j) const noexcept { return j < tasks_.size(); }
  bool is_later(job a, job b) const noexcept {
    if (!is_task(a) || !is_task(b)) return is_task(a) != is_task(b) ? is_task(a) : a > b;
    return ways_[a] != ways_[b] ? ways_[a] < ways_[b] : a > b;
  }
  std::uint32_t rank_of(job j) const { return is_task(j) ? tasks_[j].rank : arrivals_[j - tasks_.size()].rank; }
  ticks copy(std::uint32_t task) const {
    sim::network const& n = wanted_.network;
    bool const is_copied = tasks_[task].bytes <= n.copied_up_to;
    return n.crossing + (is_copied ? static_cast<ticks>(n.copying * static_cast<double>(tasks_[task].bytes)) : 0);
  }

  std::vector<rank_task> const& tasks_;
  rank_options const& wanted_;
  std::vector<std::vector<std::uint32_t>> consumers_;  ///< by task
  std::vector<std::vector<std::uint32_t>> abroad_;     ///< by task: other ranks that take its value
  std::vector<std::uint32_t> missing_;                 ///< by task: inputs that are not there
  std::vector<arrival> arrivals_;
  std::vector<std::uint32_t> ways_;      ///< by task: tasks on the longest path to the end
  std::vector<std::vector<job>> ready_;  ///< by rank; heaps
  std::vector<std::uint32_t> idle_;      ///< by rank: workers
  std::vector<ticks> link_free_;         ///< from, to
  // An event is the end of a job, or, with the highest bit, that a value has come.
  static constexpr std::uint32_t comes = std::uint32_t{1} << 31;
  event_queue events_;
  ticks now_ = 0;
  rank_report report_;
};

HEIST_BODY rank_run::rank_run(std::vector<rank_task> const& tasks, rank_options const& wanted)
    : tasks_{tasks},
      wanted_{wanted},
      consumers_(tasks.size()),
      abroad_(tasks.size()),
      missing_(tasks.size()),
      ways_(tasks.size()),
      ready_(wanted.ranks),
      idle_(wanted.ranks, wanted.workers),
      link_free_(std::size_t{wanted.ranks} * wanted.ranks) {
  check();
  report_.busy.resize(wanted.ranks);
  for (std::size_t t = tasks.size(); t-- != 0;) {
    for (std::uint32_t const from : tasks[t].inputs) ways_[from] = std::max(ways_[from], ways_[t] + 1);
  }
  for (std::uint32_t t = 0; t < tasks.size(); ++t) {
    missing_[t] = static_cast<std::uint32_t>(tasks[t].inputs.size());
    for (std::uint32_t const from : tasks[t].inputs) {
      consumers_[from].push_back(t);
      auto& ranks = abroad_[from];
      if (tasks[from].rank != tasks[t].rank && std::find(ranks.begin(), ranks.end(), tasks[t].rank) == ranks.end())
        ranks.push_back(tasks[t].rank);
    }
  }
}

HEIST_BODY void rank_run::check() const {
  if (wanted_.ranks == 0 || wanted_.workers == 0 || tasks_.size() >= comes / 4) {
    throw sim_error{
        "ranks without workers, no ranks, or too many tasks to be simulated; fix it by one of each at "
        "least, and fewer than 2^29 tasks."};
  }
  for (std::size_t t = 0; t < tasks_.size(); ++t) {
    bool wrong = tasks_[t].rank >= wanted_.ranks;
    for (std::uint32_t const from : tasks_[t].inputs) wrong = wrong || from >= t;
    if (wrong) {
      throw sim_error{"task " + std::to_string(t) +
                      " of a program over ranks is on a rank that there is not, or takes the value of a task that "
                      "does not stand before it; fix it by the number of ranks, or by the order of tasks."};
    }
  }
}

HEIST_BODY rank_report rank_run::run() {
  for (std::uint32_t t = 0; t < tasks_.size(); ++t) {
    if (missing_[t] == 0) add_ready(t, tasks_[t].rank);
  }
  for (std::uint32_t r = 0; r < wanted_.ranks; ++r) begin(r);
  while (!events_.empty()) {
    auto const e = events_.take();
    now_ = e.time;
    if ((e.id & comes) != 0) {
      ready(e.id & ~comes, rank_of(e.id & ~comes));
    } else {
      end(e.id);
    }
  }
  report_.makespan = now_;
  return std::move(report_);
}

HEIST_BODY void rank_run::ready(job j, std::uint32_t rank) {
  add_ready(j, rank);
  begin(rank);
}

/// Values that have come are first, then tasks by their ways; equal ones as they are numbered.
HEIST_BODY void rank_run::add_ready(job j, std::uint32_t rank) {
  auto& jobs = ready_[rank];
  jobs.push_back(j);
  std::push_heap(jobs.begin(), jobs.end(), [this](job a, job b) { return is_later(a, b); });
}
HEIST_BODY rank_run::job rank_run::take_ready(std::uint32_t rank) {
  auto& jobs = ready_[rank];
  std::pop_heap(jobs.begin(), jobs.end(), [this](job a, job b) { return is_later(a, b); });
  job const j = jobs.back();
  jobs.pop_back();
  return j;
}

HEIST_BODY void rank_run::begin(std::uint32_t rank) {
  for (auto& jobs = ready_[rank]; idle_[rank] > 0 && !jobs.empty(); --idle_[rank]) {
    job const j = take_ready(rank);
    ticks const time = time_of(j);
    report_.busy[rank] += time;
    events_.add(now_ + time, j);
  }
}

HEIST_BODY ticks rank_run::time_of(job j) const {
  if (!is_task(j)) return copy(arrivals_[j - tasks_.size()].task);
  bool const crosses = !abroad_[j].empty();
  return tasks_[j].work + wanted_.node + (crosses ? copy(j) : 0);
}

HEIST_BODY void rank_run::end(job j) {
  std::uint32_t const rank = rank_of(j);
  if (is_task(j)) {
    send(j);
    arrived(j, rank);
  } else {
    arrived(arrivals_[j - tasks_.size()].task, rank);
  }
  ++idle_[rank];
  begin(rank);
}

HEIST_BODY void rank_run::arrived(std::uint32_t task, std::uint32_t rank) {
  for (std::uint32_t const t : consumers_[task]) {
    if (tasks_[t].rank == rank && --missing_[t] == 0) add_ready(t, rank);
  }
}

HEIST_BODY void rank_run::send(std::uint32_t task) {
  auto const length = static_cast<ticks>(wanted_.network.link * static_cast<double>(tasks_[task].bytes));
  for (std::uint32_t const to : abroad_[task]) {
    ticks& free = link_free_[std::size_t{tasks_[task].rank} * wanted_.ranks + to];
    free = std::max(free, now_) + length;
    auto const j = static_cast<job>(tasks_.size() + arrivals_.size());
    arrivals_.push_back({task, to});
    events_.add(free + wanted_.network.latency, j | comes);
    ++report_.crossings;
    report_.bytes += tasks_[task].bytes;
  }
}

}  // namespace heist::sim::detail

namespace heist::sim {

HEIST_BODY rank_report simulate_ranks(std::vector<rank_task> const& tasks, rank_options const& wanted) {
  return detail::rank_run{tasks, wanted}.run();
}

}  // namespace heist::sim
