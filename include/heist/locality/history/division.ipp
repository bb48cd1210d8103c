// Bodies of division.hpp.
#pragma once

#include "heist/locality/history/division.hpp"

#include <algorithm>  // fill, max, min, sort

#include "heist/graph/graph_data.hpp"
#include "heist/locality/history/known_task.hpp"

namespace heist::detail {

/// While a graph is divided.
class graph_divider {
 public:
  graph_divider(graph_data const& g, std::vector<known_task>& tasks, std::uint32_t squads);

  void distribute_levels();
  /// By task: its part. Returns the squad of each part.
  std::vector<std::uint32_t> join_parts();

 private:
  static constexpr std::uint32_t none = known_task::no_place;

  std::uint32_t& squad(std::uint32_t p) noexcept { return tasks_[p].past.squad; }
  template <class F>
  void for_each_successor(std::uint32_t p, F&& f) const {
    record const* const r = graph_.records + p;
    for (std::uint32_t s = r->first_successor; s != r[1].first_successor; ++s) f(graph_.successors[s].position());
  }
  void weigh();
  void order_by_level();
  void distribute(std::uint32_t const* begin, std::uint32_t const* end);
  std::uint32_t wanted(std::uint32_t p) const noexcept;
  void give(std::uint32_t p, std::uint32_t to) noexcept;

  graph_data const& graph_;
  std::vector<known_task>& tasks_;
  std::uint32_t const squads_;
  std::vector<double> weight_;
  std::vector<std::uint32_t> level_, order_, level_ends_;
  std::vector<std::uint32_t> votes_;  ///< by task and squad: number of the task's predecessors there
  std::vector<double> load_;          ///< by squad, in this level
};

HEIST_COLD_BODY graph_divider::graph_divider(graph_data const& g, std::vector<known_task>& tasks, std::uint32_t squads)
    : graph_{g}, tasks_{tasks}, squads_{squads}, load_(squads) {
  weigh();
  order_by_level();
}

/// By time where all have one, else by bytes where some have, else all alike.
HEIST_COLD_BODY void graph_divider::weigh() {
  bool timed = true, sized = false;
  for (known_task const& t : tasks_) {
    timed = timed && t.past.end > t.past.begin;
    sized = sized || t.past.bytes != 0;
  }
  weight_.reserve(tasks_.size());
  for (known_task const& t : tasks_) {
    weight_.push_back(timed   ? static_cast<double>(t.past.end - t.past.begin)
                      : sized ? static_cast<double>(t.past.bytes + 1)
                              : 1.0);
  }
}

/// Positions are in an order in which one worker could run the tasks, if there are no conditions.
HEIST_COLD_BODY void graph_divider::order_by_level() {
  auto const count = static_cast<std::uint32_t>(tasks_.size());
  level_.assign(count, 0);
  std::uint32_t levels = count == 0 ? 0 : 1;
  for (std::uint32_t p = 0; p != count; ++p) {
    for_each_successor(p, [&](std::uint32_t s) {
      if (s > p) level_[s] = std::max(level_[s], level_[p] + 1);
    });
    levels = std::max(levels, level_[p] + 1);
  }
  level_ends_.assign(levels + 1, 0);
  for (std::uint32_t const l : level_) ++level_ends_[l + 1];
  for (std::uint32_t l = 0; l != levels; ++l) level_ends_[l + 1] += level_ends_[l];
  order_.resize(count);
  std::vector<std::uint32_t> next(level_ends_.begin(), level_ends_.end() - (levels != 0));
  for (std::uint32_t p = 0; p != count; ++p) order_[next[level_[p]]++] = p;
  for (std::uint32_t l = 0; l != levels; ++l) {
    std::sort(order_.begin() + level_ends_[l], order_.begin() + level_ends_[l + 1],
              [this](std::uint32_t a, std::uint32_t b) { return tasks_[a].index < tasks_[b].index; });
  }
}

HEIST_COLD_BODY void graph_divider::distribute_levels() {
  votes_.assign(tasks_.size() * squads_, 0);
  for (std::size_t l = 0; l + 1 < level_ends_.size(); ++l)
    distribute(order_.data() + level_ends_[l], order_.data() + level_ends_[l + 1]);
}

/// The squad that has most of what `p` waits for; none if it waits for nothing.
HEIST_COLD_BODY std::uint32_t graph_divider::wanted(std::uint32_t p) const noexcept {
  std::uint32_t best = none, most = 0;
  for (std::uint32_t s = 0; s != squads_; ++s) {
    if (std::uint32_t const n = votes_[std::size_t{p} * squads_ + s]; n > most) most = n, best = s;
  }
  return best;
}

HEIST_COLD_BODY void graph_divider::give(std::uint32_t p, std::uint32_t to) noexcept {
  squad(p) = to;
  load_[to] += weight_[p];
}

HEIST_COLD_BODY void graph_divider::distribute(std::uint32_t const* begin, std::uint32_t const* end) {
  std::fill(load_.begin(), load_.end(), 0.0);
  double all = 0;
  for (auto const* p = begin; p != end; ++p) all += weight_[*p];
  double const fair = all / squads_;
  for (auto const* p = begin; p != end; ++p) {
    if (squad(*p) != none) give(*p, squad(*p) % squads_);
  }
  for (auto const* p = begin; p != end; ++p) {
    if (squad(*p) != none) continue;
    std::uint32_t const to = wanted(*p);
    if (to != none && load_[to] + weight_[*p] / 2 <= fair) give(*p, to);
  }
  std::uint32_t to = 0;
  for (auto const* p = begin; p != end; ++p) {
    if (squad(*p) != none) continue;
    while (to + 1 != squads_ && load_[to] + weight_[*p] / 2 > fair) ++to;
    give(*p, to);
  }
  for (auto const* p = begin; p != end; ++p)
    for_each_successor(*p, [&](std::uint32_t s) { ++votes_[std::size_t{s} * squads_ + squad(*p)]; });
}

/// A task joins the lightest part of its squad that holds a predecessor. A part has at most an eighth of a squad's
/// share.
HEIST_COLD_BODY std::vector<std::uint32_t> graph_divider::join_parts() {
  double all = 0;
  for (double const w : weight_) all += w;
  double const most = all / squads_ / 8;
  std::vector<std::uint32_t> squad_of_part;
  std::vector<double> weight_of_part;
  for (known_task& t : tasks_) t.part = none;
  std::vector<std::uint32_t> best(tasks_.size(), none);  // by task: the lightest part of its predecessors
  for (std::uint32_t const p : order_) {
    std::uint32_t part = best[p];
    if (part != none && weight_of_part[part] + weight_[p] > most) part = none;
    if (part == none) {
      part = static_cast<std::uint32_t>(squad_of_part.size());
      squad_of_part.push_back(squad(p));
      weight_of_part.push_back(0);
    }
    tasks_[p].part = part;
    weight_of_part[part] += weight_[p];
    for_each_successor(p, [&](std::uint32_t s) {
      if (squad(s) == squad(p) && (best[s] == none || weight_of_part[part] < weight_of_part[best[s]])) best[s] = part;
    });
  }
  return squad_of_part;
}

HEIST_COLD_BODY void graph_division::make(graph_data const& g, std::vector<known_task>& tasks, std::uint32_t squads) {
  graph_divider d{g, tasks, squads};
  d.distribute_levels();
  auto const squad_of_part = d.join_parts();
  count_ = squad_of_part.size();
  squad_of_ = std::make_unique<os_env::atomic<std::uint32_t>[]>(count_);
  for (std::size_t i = 0; i != count_; ++i)
    squad_of_[i].store(squad_of_part[i], std::memory_order_relaxed);  // relaxed: before the tasks
}

}  // namespace heist::detail
