// Bodies of subgraph.hpp.
#pragma once

#include "heist/graph/subgraph.hpp"

#include <utility>  // exchange

#include "heist/core/base/errors.hpp"
#include "heist/core/scheduler/ready_tasks.hpp"

namespace heist {
namespace detail {

/// The tasks of a part, by position, and how many predecessors each of them waits for.
class tasks_of_part final : public run_part {
 public:
  explicit tasks_of_part(vector<first_task> const& first) : first_{first.begin(), first.end()} {}

  runnable* begin(graph_data& g, fiber& self) noexcept override {
    // The records may be those of a run with memory.
    if (graph_recall* const known = g.recall(); known != nullptr) known->detach(g);
    try {
      if (!is_known_ || layout_ != g.layout_count) find(g);
    } catch (...) {
      g.current->fail(exception_of_task());
      starts_.clear();
    }
    if (starts_.empty()) {
      g.remaining.store(1, std::memory_order_relaxed);  // relaxed: this worker reports it, when this has returned
      self.worker->count_for(g);
      return nullptr;
    }
    for (std::uint32_t const p : members_) {
      g.counters[p].reset(waits_for_[p]);
      node& n = g.records[p].built();
      if (g.counts_tokens && n.type().forget_value != nullptr) n.type().forget_value(n);
    }
    // relaxed: the pushes publish it
    g.remaining.store(static_cast<std::uint32_t>(g.counts_tokens ? starts_.size() : members_.size()),
                      std::memory_order_relaxed);
    // Not through `g` after the last push: with that task the pass may end.
    if (g.urgency != nullptr) {
      ready_offer offer{self};
      for (std::uint32_t const p : starts_) offer.add(g.urgency[p], g.records[p]);
      return offer.begin();
    }
    record* const records = g.records;
    for (std::size_t i = starts_.size(); i-- > 1;) self.scheduler.push(*self.worker, records[starts_[i]]);
    return &records[starts_.front()];
  }

 private:
  static constexpr std::uint32_t outside = ~0u;

  /// Throws graph_error if a given task was erased.
  void find(graph_data const& g) {
    is_known_ = false;
    members_.clear();
    starts_.clear();
    waits_for_.assign(g.record_count, outside);
    vector<std::uint32_t> position(g.nodes.size());
    for (std::uint32_t p = 0; p != g.record_count; ++p) position[g.records[p].built().index] = p;
    for (first_task const& t : first_) {
      if (t.index >= g.nodes.size() || g.nodes[t.index] == nullptr || g.nodes[t.index]->created != t.created) {
        throw graph_error{
            "a part of a graph begins with a task that was erased; fix it by a heist::subgraph of tasks that the graph "
            "has."};
      }
      add(position[t.index]);
    }
    std::size_t const given = members_.size();
    // The tasks that edges without conditions lead to. Such edges make no loop.
    vector<char> is_certain(g.record_count);
    vector<std::uint32_t> certain{members_};
    for (std::uint32_t const p : certain) is_certain[p] = 1;
    for (std::size_t next = 0; next != certain.size();) {
      std::uint32_t const from = certain[next++];
      if (chooses(g, from)) continue;
      for_each_successor(g, from, [&](std::uint32_t to) {
        ++waits_for_[add(to)];
        if (!std::exchange(is_certain[to], 1)) certain.push_back(to);
      });
    }
    for (std::size_t i = 0; i != given; ++i) {
      if (waits_for_[members_[i]] == 0) starts_.push_back(members_[i]);
    }
    if (g.counts_tokens) add_chosen(g, is_certain);
    layout_ = g.layout_count;
    is_known_ = true;
  }
  static bool chooses(graph_data const& g, std::uint32_t p) noexcept {
    task_kind const kind = g.records[p].built().type().kind;
    return kind == task_kind::condition || kind == task_kind::multi_condition;
  }
  template <class F>
  static void for_each_successor(graph_data const& g, std::uint32_t p, F&& f) {
    record const& r = g.records[p];
    for (std::uint32_t e = r.first_successor; e != (&r)[1].first_successor; ++e) f(g.successors[e].position());
  }
  /// Returns the position. A task that is new in the part waits for none so far.
  std::uint32_t add(std::uint32_t p) {
    if (waits_for_[p] == outside) {
      members_.push_back(p);
      waits_for_[p] = 0;
    }
    return p;
  }

  /// Adds the tasks that only conditions lead to. A task waits for such a predecessor, too. It does not
  /// wait for one that the part reaches only through the task itself: it begins the first round of a loop without that.
  void add_chosen(graph_data const& g, vector<char> const& is_certain) {
    for (std::size_t next = 0; next != members_.size();) {
      for_each_successor(g, members_[next++], [&](std::uint32_t to) { add(to); });
    }
    vector<vector<std::uint32_t>> before(g.record_count);
    for (std::uint32_t const from : members_) {
      if (is_certain[from] || chooses(g, from)) continue;
      for_each_successor(g, from, [&](std::uint32_t to) { before[to].push_back(from); });
    }
    for (std::uint32_t const p : members_) {
      if (before[p].empty()) continue;
      vector<char> const seen = led_to_without(g, p);
      for (std::uint32_t const from : before[p]) waits_for_[p] += static_cast<std::uint32_t>(seen[from]);
    }
  }
  /// The tasks that paths lead to which do not go through `p`.
  vector<char> led_to_without(graph_data const& g, std::uint32_t p) const {
    vector<char> seen(g.record_count);
    vector<std::uint32_t> found;
    auto const find = [&](std::uint32_t to) {
      if (to != p && !std::exchange(seen[to], 1)) found.push_back(to);
    };
    for (std::uint32_t const start : starts_) find(start);
    for (std::size_t next = 0; next != found.size();) for_each_successor(g, found[next++], find);
    return seen;
  }

  vector<first_task> first_;
  vector<std::uint32_t> members_;    ///< positions; the given ones come first
  vector<std::uint32_t> waits_for_;  ///< by position: predecessors in the part, or `outside`
  vector<std::uint32_t> starts_;     ///< positions of given tasks that wait for none
  std::uint32_t layout_ = 0;         ///< the layout that all these are of
  bool is_known_ = false;
};

}  // namespace detail

HEIST_COLD_BODY void subgraph::add(detail::graph_data* of, detail::first_task t, bool valid) {
  if (!valid || (graph_ != nullptr && graph_ != of)) {
    throw graph_error{
        "a part of a graph begins with a handle that refers to no task, or to a task of another graph; fix it by tasks "
        "of one graph."};
  }
  graph_ = of;
  first_.push_back(t);
}

HEIST_COLD_BODY void subgraph::reject_empty() {
  throw graph_error{
      "a part of a graph is made of no tasks, so there is no graph that it is a part of; fix it by at least one task."};
}

HEIST_COLD_BODY detail::part_option subgraph::part() const {
  return {detail::unique_ptr<detail::run_part>{new detail::tasks_of_part{first_}}};
}

}  // namespace heist
