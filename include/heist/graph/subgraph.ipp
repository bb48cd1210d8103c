// Bodies of subgraph.hpp.
#pragma once

#include "heist/graph/subgraph.hpp"

#include <utility>  // exchange

#include "heist/core/base/errors.hpp"
#include "heist/core/base/format.hpp"
#include "heist/core/scheduler/ready_tasks.hpp"

namespace heist {
namespace detail {

/// The tasks of a part, by position, and what each of them waits for.
class tasks_of_part final : public run_part {
 public:
  explicit tasks_of_part(vector<first_task> const& first) : first_{first.begin(), first.end()} {}

  runnable* begin(graph_data& g, fiber& self) noexcept override {
    // acquire: see graph_data::keep_recall(). The records may be those of a run with memory.
    if (graph_recall* const known = g.recall.load(std::memory_order_acquire); known != nullptr) known->detach(g);
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
    if (g.urgencies != nullptr) {
      ready_offer offer{self};
      for (std::uint32_t const p : starts_) offer.add(g.urgencies[p], g.records[p]);
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
    for (std::size_t next = 0; next != members_.size();) {  // add() makes it longer
      record const& r = g.records[members_[next++]];
      task_kind const kind = r.built().type().kind;
      bool const chooses = kind == task_kind::condition || kind == task_kind::multi_condition;
      for (std::uint32_t e = r.first_successor; e != (&r)[1].first_successor; ++e) {
        std::uint32_t const to = g.successors[e].position();
        add(to);
        if (!chooses) ++waits_for_[to];
      }
    }
    for (std::size_t i = 0; i != given; ++i) {
      if (g.counts_tokens || waits_for_[members_[i]] == 0) starts_.push_back(members_[i]);
    }
    for (std::size_t i = g.counts_tokens ? given : 0; i-- > 0;) {
      if (leads_another_to(g, i)) starts_.erase(starts_.begin() + i);
    }
    layout_ = g.layout_count;
    is_known_ = true;
  }
  /// In a graph with conditions: does another one of `starts_` lead to the i-th? Of two that lead to each other in a loop
  /// the first one starts.
  bool leads_another_to(graph_data const& g, std::size_t i) const {
    vector<char> seen(g.record_count);
    vector<std::uint32_t> found;
    for (std::uint32_t const p : starts_) {
      if (p != starts_[i]) found.push_back(p);
    }
    for (std::size_t k = 0; k != found.size(); ++k) {
      record const& r = g.records[found[k]];
      for (std::uint32_t e = r.first_successor; e != (&r)[1].first_successor; ++e) {
        std::uint32_t const to = g.successors[e].position();
        if (to == starts_[i]) return true;
        if (!std::exchange(seen[to], 1)) found.push_back(to);
      }
    }
    return false;
  }
  void add(std::uint32_t p) {
    if (waits_for_[p] != outside) return;
    members_.push_back(p);
    waits_for_[p] = 0;
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
