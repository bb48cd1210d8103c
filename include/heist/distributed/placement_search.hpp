// Looks for a better placement of a graph's tasks, by simulation.
#pragma once

#include <algorithm>
#include <cmath>  // isfinite
#include <cstddef>
#include <cstdint>
#include <numeric>  // iota
#include <random>
#include <utility>
#include <vector>

#include "heist/distributed/shape.hpp"
#include "heist/tools/simulate/ranks.hpp"

namespace heist::distributed {

/// The cost of a task. Sent as its bytes.
struct task_cost {
  std::uint32_t id;
  bool stays;  ///< its value cannot travel
  double microseconds;
  std::uint64_t bytes;
};

/// Tasks that must be on one rank are one group: tasks with an order without a value, tasks that take a value that
/// cannot travel, and tasks without a place of their own. Groups with a task that is fixed do not move. The first guess
/// takes tasks by the length of what depends on them and puts each group where its first task would end first (HEFT).
/// Then groups move one by one while the simulated run becomes shorter.
class placement_search {
 public:
  placement_search(graph_shape const& shape, std::uint32_t ranks, sim::network const& network)
      : shape_{shape}, tasks_(shape.tasks()), known_(shape.tasks()), group_(shape.tasks()), fixed_(shape.tasks()) {
    wanted_.ranks = ranks;
    wanted_.network = network;
    std::iota(group_.begin(), group_.end(), std::uint32_t{0});
    for (std::uint32_t t = 0; t < shape.tasks(); ++t) {
      tasks_[t].rank = static_cast<std::uint32_t>(shape.ranks[t]);
      shape.each_input(t + 1, [&](std::uint32_t from) { add_input(t, from - 1); });
      if (shape.places[t] == task_place::follows && !tasks_[t].inputs.empty()) join(t, tasks_[t].inputs.front());
    }
    for (auto const& [from, to] : shape.orders) {
      join(from - 1, to - 1);
      if (from < to) add_input(to - 1, from - 1);
    }
  }

  /// Of a rank; the one with the fewest workers counts for all.
  void add(std::uint32_t workers, std::vector<task_cost> const& costs) {
    wanted_.workers = wanted_.workers == 0 ? workers : std::min(wanted_.workers, workers);
    for (task_cost const& c : costs) {
      if (c.id == 0 || c.id > tasks_.size() || !std::isfinite(c.microseconds)) continue;
      tasks_[c.id - 1].work = static_cast<sim::ticks>(c.microseconds * 1000);
      tasks_[c.id - 1].bytes = c.bytes;
      known_[c.id - 1] = true;
      if (c.stays) stays_.push_back(c.id - 1);
    }
  }
  bool complete() const {
    return wanted_.workers != 0 && std::find(known_.begin(), known_.end(), false) == known_.end();
  }

  /// `tries`: so many moves at most.
  void run(std::size_t tries = 3000) {
    make_groups();
    std::vector<std::uint32_t> const user = placement();
    before_ = after_ = time();
    std::vector<std::uint32_t> best = user;
    put(first_guess());
    if (auto const t = time(); t < after_) after_ = t, best = placement();
    put(best);
    improve(std::min(tries, std::max<std::size_t>(10, 3'000'000 / (tasks_.size() + 1))));  // a second or so
    // The simulation's error, and that of the measured times, may be larger than this gain.
    if (static_cast<double>(after_) > 0.9 * static_cast<double>(before_)) {
      put(user);
      after_ = before_;
    }
  }

  /// By number; 0 is no task's.
  std::vector<std::int32_t> ranks() const {
    std::vector<std::int32_t> all(tasks_.size() + 1);
    for (std::size_t t = 0; t < tasks_.size(); ++t) all[t + 1] = static_cast<std::int32_t>(tasks_[t].rank);
    return all;
  }
  /// Microseconds.
  double before() const noexcept { return static_cast<double>(before_) / 1000; }
  double after() const noexcept { return static_cast<double>(after_) / 1000; }

 private:
  void add_input(std::uint32_t task, std::uint32_t from) {
    auto& in = tasks_[task].inputs;
    if (std::find(in.begin(), in.end(), from) == in.end()) in.push_back(from);
  }
  std::uint32_t root(std::uint32_t t) {
    while (group_[t] != t) t = group_[t] = group_[group_[t]];
    return t;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    std::uint32_t const x = root(a), y = root(b);
    group_[std::max(x, y)] = std::min(x, y);
  }
  void make_groups() {
    std::vector<bool> stays(tasks_.size());
    for (std::uint32_t const t : stays_) stays[t] = true;
    for (std::uint32_t t = 0; t < tasks_.size(); ++t) {
      for (std::uint32_t const from : tasks_[t].inputs) {
        if (stays[from]) join(t, from);
      }
    }
    members_.resize(tasks_.size());
    for (std::uint32_t t = 0; t < tasks_.size(); ++t) {
      std::uint32_t const g = root(t);
      members_[g].push_back(t);
      fixed_[g] = fixed_[g] || shape_.places[t] == task_place::fixed;
    }
    for (std::uint32_t t = 0; t < tasks_.size(); ++t) {
      if (root(t) == t && !fixed_[t]) movable_.push_back(t);
    }
  }

  sim::ticks time() const { return sim::simulate_ranks(tasks_, wanted_).makespan; }
  std::vector<std::uint32_t> placement() const {
    std::vector<std::uint32_t> now;
    for (auto const& t : tasks_) now.push_back(t.rank);
    return now;
  }
  void put(std::vector<std::uint32_t> const& ranks) {
    for (std::size_t t = 0; t < tasks_.size(); ++t) tasks_[t].rank = ranks[t];
  }
  void move(std::uint32_t group, std::uint32_t to) {
    for (std::uint32_t const t : members_[group]) tasks_[t].rank = to;
  }
  /// From one rank to another, alone.
  sim::ticks way_of(std::uint32_t task) const {
    auto const& n = wanted_.network;
    double const copying = tasks_[task].bytes <= n.copied_up_to ? 2 * n.copying : 0;
    return n.latency + 2 * n.crossing +
           static_cast<sim::ticks>((n.link + copying) * static_cast<double>(tasks_[task].bytes));
  }

  /// Tasks by the longest way from their begin to the end of the graph.
  std::vector<std::uint32_t> by_urgency() const {
    std::vector<sim::ticks> left(tasks_.size());  // time of the longest way after a task
    for (std::size_t t = tasks_.size(); t-- > 0;) {
      for (std::uint32_t const from : tasks_[t].inputs)
        left[from] = std::max(left[from], left[t] + tasks_[t].work + wanted_.node + way_of(from) / 2);
    }
    std::vector<std::uint32_t> order(tasks_.size());
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return left[a] + tasks_[a].work > left[b] + tasks_[b].work;
    });
    return order;
  }
  std::vector<std::uint32_t> first_guess() {
    std::vector<std::uint32_t> ranks = placement();
    std::vector<bool> placed(tasks_.size());
    std::vector<sim::ticks> end(tasks_.size());
    std::vector<std::vector<sim::ticks>> free(wanted_.ranks, std::vector<sim::ticks>(wanted_.workers));
    for (std::uint32_t const t : by_urgency()) {
      std::uint32_t const g = root(t);
      bool const open = !fixed_[g] && !placed[g];
      std::uint32_t best = ranks[t];
      sim::ticks best_end = 0;
      for (std::uint32_t r = open ? 0 : best; r < (open ? wanted_.ranks : best + 1); ++r) {
        sim::ticks from = *std::min_element(free[r].begin(), free[r].end());
        for (std::uint32_t const in : tasks_[t].inputs)
          from = std::max(from, end[in] + (ranks[in] == r ? 0 : way_of(in)));
        sim::ticks const ends = from + tasks_[t].work + wanted_.node;
        if (best_end == 0 || ends < best_end) best = r, best_end = ends;
      }
      if (open) {
        placed[g] = true;
        for (std::uint32_t const member : members_[g]) ranks[member] = best;
      }
      end[t] = best_end;
      *std::min_element(free[best].begin(), free[best].end()) = best_end;
    }
    return ranks;
  }

  void improve(std::size_t tries) {
    if (movable_.empty() || wanted_.ranks < 2) return;
    std::minstd_rand random{1};
    for (std::size_t i = 0; i < tries; ++i) {
      std::uint32_t const g = movable_[random() % movable_.size()];
      std::uint32_t const was = tasks_[g].rank;
      std::uint32_t const t = members_[g][random() % members_[g].size()];
      auto const& in = tasks_[t].inputs;
      // Half of the time to where an input is.
      auto const any = static_cast<std::uint32_t>(random() % wanted_.ranks);
      std::uint32_t const to = random() % 2 == 0 && !in.empty() ? tasks_[in[random() % in.size()]].rank : any;
      if (to == was) continue;
      move(g, to);
      if (auto const now = time(); now <= after_) {
        after_ = now;
      } else {
        move(g, was);
      }
    }
  }

  graph_shape const& shape_;
  sim::rank_options wanted_{.ranks = 1, .workers = 0, .network = {}};
  std::vector<sim::rank_task> tasks_;
  std::vector<bool> known_;
  std::vector<std::uint32_t> group_;  ///< by task; the smallest of it is its own
  std::vector<bool> fixed_;           ///< by group
  std::vector<std::uint32_t> stays_;
  std::vector<std::vector<std::uint32_t>> members_;  ///< by group
  std::vector<std::uint32_t> movable_;
  sim::ticks before_ = 0, after_ = 0;
};

}  // namespace heist::distributed
