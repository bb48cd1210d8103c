// Bodies of placement_history.hpp: what a run is to do, found out before it.
#pragma once

#include <fmt/core.h>

#include <algorithm>  // max, sort
#include <utility>    // move

#include "heist/core/base/errors.hpp"
#include "heist/locality/history/placement_history.hpp"
#include "heist/locality/history/way_order.hpp"

namespace heist::detail {

HEIST_COLD_BODY std::uint64_t shape_of(graph_data const& g) {
  std::vector<std::uint64_t> nth(g.nodes.size());
  std::uint64_t count = 0;
  for (std::size_t i = 0; i != g.nodes.size(); ++i) nth[i] = g.nodes[i] == nullptr ? count : count++;
  std::uint64_t sum = count;
  for (edge const& e : g.edges) {
    std::uint64_t mixed = (nth[e.from()] << 32 | nth[e.to]) + 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
    sum += mixed ^ (mixed >> 31);
  }
  return sum;
}

HEIST_COLD_BODY placement_history::layout_key placement_history::wanted(graph_data const& g,
                                                                        core const& scheduler) const noexcept {
  return {g.layout_count, g.hints() == nullptr ? 0 : g.hints()->changes + 1, follows_, scheduler.serial()};
}

/// The hints for the task with this index. Null: there are none, or another task has the index now.
HEIST_COLD_BODY task_hint const* hint_for(graph_data const& g, std::uint32_t index, std::uint32_t created) noexcept {
  task_hints const* const hints = g.hints();
  if (hints == nullptr || index >= hints->all.size() || hints->all[index].created != created) return nullptr;
  return &hints->all[index];
}

/// Throws if `t` is wished to a place that the executor does not have.
HEIST_COLD_BODY void reject_hint(graph_data const& g, std::uint32_t index, task_hint const& t, std::size_t workers,
                                 std::size_t squads) {
  bool const of_worker = t.worker != task_hint::none && t.worker >= workers;
  if (!of_worker && (t.squad == task_hint::none || t.squad < squads)) return;
  throw graph_error{fmt::format(
      "{} is wished to run on {} {}, and the executor has {}, numbered from 0; fix it by a smaller number in {}(), or "
      "by an executor that has more.",
      g.task_name(index), of_worker ? "worker" : "squad", of_worker ? t.worker : t.squad, of_worker ? workers : squads,
      of_worker ? "on_worker" : "on_squad")};
}

HEIST_COLD_BODY void placement_history::check(graph_data const& g, core const& scheduler) {
  layout_key const now = wanted(g, scheduler);
  {
    spin_guard guard{lock_};
    if (checked_ == now) return;
  }
  if (g.hints() != nullptr) {
    for (std::uint32_t i = 0; i != g.nodes.size(); ++i) {
      task_hint const* const t = g.nodes[i] == nullptr ? nullptr : hint_for(g, i, g.nodes[i]->created);
      if (t == nullptr) continue;
      reject_hint(g, i, *t, scheduler.worker_count,
                  t->squad == task_hint::none ? 0 : scheduler.where.squads().members.size());
    }
  }
  if (is_followed_on(scheduler) && placement_of(scheduler).affinity_of_tasks() == task_affinity::workers) {
    followed_tasks const& f = *followed_;
    if (f.shape != shape_of(g)) {
      throw graph_error{
          "the graph has changed since it was told to follow a memory, which names other tasks and edges; fix it by "
          "forget(), a run, and following the memory of that."};
    }
    if (f.mode != replay_mode::relaxed && f.workers > scheduler.worker_count) {
      throw graph_error{fmt::format(
          "the memory that the graph follows strictly names {} workers, and the executor has {}; fix it by as many "
          "workers, or by replay_mode::relaxed.",
          f.workers, scheduler.worker_count)};
    }
  }
  spin_guard guard{lock_};
  checked_ = now;
}

HEIST_COLD_BODY void placement_history::plan(graph_data& g, core& scheduler) {
  layout_key const now = wanted(g, scheduler);
  if (arranged_ == now) return;
  arranged_ = {};
  workers_ = static_cast<std::uint32_t>(scheduler.worker_count);
  started_.assign(workers_, {});
  members_.clear();
  // The machine is looked at where that matters only: it takes some milliseconds.
  if (placement_of(scheduler).affinity_of_tasks() == task_affinity::squads || g.hints() != nullptr)
    members_ = scheduler.where.squads().members;
  squads_ = static_cast<std::uint32_t>(members_.size());
  match_tasks(g);
  choose_way(g, scheduler);
  arranged_ = now;
  passes_ = 0;
  order_due_ = 0;
}

/// Orders the tasks by the times of the last pass, as soon as there are some. Orders them again after twice as many
/// passes, as one may have been disturbed. A followed order does not change.
HEIST_COLD_BODY void placement_history::put_in_order(graph_data& g) {
  if (passes_++ < order_due_) return;
  if (way_ == recall_way::in_order) return;
  order_due_ = order_by_time(g, tasks_, std::max(workers_, 1u)) ? 2 * passes_ : passes_;
}

/// Keeps the notes on tasks that still exist; new tasks have no past.
HEIST_COLD_BODY void placement_history::match_tasks(graph_data& g) {
  std::vector<std::uint32_t> at(g.nodes.size(), known_task::no_place);
  for (std::uint32_t p = 0; p != g.record_count; ++p) at[g.records[p].built().index] = p;
  std::vector<known_task> now(g.record_count);
  for (known_task const& t : tasks_) {
    if (t.index >= at.size() || at[t.index] == known_task::no_place) continue;
    if (g.nodes[t.index]->created == t.created) now[at[t.index]].past = t.past;
  }
  for (std::uint32_t p = 0; p != g.record_count; ++p) {
    known_task& t = now[p];
    node const& n = g.records[p].built();
    t.run = &run_known;
    t.what = nullptr;  // observers are told of the record
    t.of = &g.records[p];
    t.index = n.index;
    t.created = n.created;
    task_hint const* const w = hint_for(g, n.index, n.created);
    if (w == nullptr || w->bytes == 0) continue;
    t.declared = true;
    t.past.bytes = w->bytes;
  }
  weighs_values_ = true;
  for (known_task& t : now) t.left = 0;
  tasks_ = std::move(now);
}

/// Counts the bytes of tasks that have declared none: the values that these tasks take and leave. `left` is known.
HEIST_COLD_BODY void placement_history::count_values(graph_data const& g) noexcept {
  try {
    std::vector<known_task*> by_index(g.nodes.size());
    for (known_task& t : tasks_) {
      by_index[t.index] = &t;
      if (!t.declared && !t.counted) t.past.bytes = t.left;
    }
    for (edge const& e : g.edges) {
      if (!e.is_value_edge()) continue;
      if (known_task& t = *by_index[e.to]; !t.declared && !t.counted) t.past.bytes += by_index[e.from()]->left;
    }
  } catch (std::bad_alloc const&) {  // not known
  }
}

HEIST_COLD_BODY void placement_history::choose_way(graph_data const& g, core const& scheduler) {
  way_ = recall_way::noted;
  lists_.reset();
  if (placement_of(scheduler).affinity_of_tasks() == task_affinity::squads) {
    plan_squads(g, scheduler);
  } else if (is_followed_on(scheduler)) {
    plan_followed(g);
  } else if (g.hints() != nullptr && g.hints()->are_followed) {
    plan_placement(g);
  } else {
    note_ = fmt::format("{} workers: tasks ran where they were ready or stolen, and that was noted", workers_);
  }
}

HEIST_COLD_BODY void placement_history::plan_squads(graph_data const& g, core const& scheduler) {
  way_ = recall_way::squads;
  std::size_t known = 0, wished = 0;
  for (known_task& t : tasks_) {
    if (t.past.squad != known_task::no_place) ++known;
    task_hint const* const w = hint_for(g, t.index, t.created);
    if (w == nullptr || (w->squad == task_hint::none && w->worker == task_hint::none)) continue;
    ++wished;
    t.past.squad = w->squad != task_hint::none ? w->squad : scheduler.workers[w->worker]->group;
    if (w->worker != task_hint::none) t.past.worker = w->worker;
  }
  parts_.make(g, tasks_, squads_);
  note_ = fmt::format(
      "{} squads: {} tasks in {} parts; {} go where they ran before, {} where they are wished, the "
      "others were dealt out level by level, to where most of what they wait for is",
      squads_, tasks_.size(), parts_.size(), known, wished);
}

HEIST_COLD_BODY std::uint32_t placement_history::worker_of_squad(std::uint32_t number,
                                                                 std::uint32_t nth) const noexcept {
  auto const& in = members_[number];
  return in[nth % in.size()];
}

HEIST_COLD_BODY void placement_history::plan_placement(graph_data const& g) {
  way_ = recall_way::strict;
  std::vector<std::uint32_t> distributed(squads_);
  std::size_t wished = 0;
  for (known_task& t : tasks_) {
    task_hint const* const w = hint_for(g, t.index, t.created);
    if (w == nullptr) continue;
    if (w->worker != task_hint::none) {
      t.scheduler = w->worker;
    } else if (w->squad != task_hint::none) {
      t.scheduler = worker_of_squad(w->squad, distributed[w->squad]++);
    }
    if (t.scheduler != known_task::no_place) ++wished;
  }
  note_ = fmt::format("{} of {} tasks ran on the workers that they were wished to", wished, tasks_.size());
}

HEIST_COLD_BODY void placement_history::plan_followed(graph_data const& g) {
  followed_tasks const& f = *followed_;
  std::vector<std::uint32_t> nth(g.nodes.size());
  std::uint32_t count = 0;
  for (std::size_t i = 0; i != g.nodes.size(); ++i) nth[i] = g.nodes[i] == nullptr ? count : count++;
  for (known_task& t : tasks_) {
    task_past const& then = f.tasks[nth[t.index]];
    if (!then.known()) continue;
    t.scheduler = then.worker % workers_;
    t.turn = then.place;  // for plan_order()
  }
  way_ = f.mode == replay_mode::relaxed ? recall_way::relaxed : recall_way::strict;
  note_ = fmt::format("{} tasks ran {} the workers that had them in the memory that is followed", tasks_.size(),
                      f.mode == replay_mode::relaxed ? "first of all on" : "on");
  if (f.mode != replay_mode::strict_ordered) return;
  if (g.counts_tokens) {
    note_ += ", in no given order: conditions choose how often a task runs";
  } else if (plan_order(g)) {
    way_ = recall_way::in_order;
    note_ += ", in the order there";
  } else {
    note_ += ", in no given order: the memory's begins a task before what it waits for, or names a place twice";
  }
}

/// From places in the memory's lists to places without gaps. False if no run can keep that order.
HEIST_COLD_BODY bool placement_history::plan_order(graph_data const& g) {
  std::vector<std::vector<std::uint32_t>> lists(workers_);
  for (std::uint32_t p = 0; p != tasks_.size(); ++p) {
    if (tasks_[p].scheduler == known_task::no_place) return false;
    lists[tasks_[p].scheduler].push_back(p);
  }
  std::vector<std::size_t> lengths;
  for (auto& list : lists) {
    std::sort(list.begin(), list.end(),
              [this](std::uint32_t a, std::uint32_t b) { return tasks_[a].turn < tasks_[b].turn; });
    for (std::size_t i = 1; i < list.size(); ++i) {
      if (tasks_[list[i]].turn == tasks_[list[i - 1]].turn) return false;
    }
    lengths.push_back(list.size());
  }
  if (!order_can_be_kept(g, lists)) return false;
  for (auto const& list : lists) {
    for (std::uint32_t i = 0; i != list.size(); ++i) tasks_[list[i]].turn = i;
  }
  lists_.emplace(lengths);
  return true;
}

/// Is there an order of all tasks that agrees with the edges and with every list?
HEIST_COLD_BODY bool placement_history::order_can_be_kept(graph_data const& g,
                                                          std::vector<std::vector<std::uint32_t>> const& lists) const {
  std::vector<std::uint32_t> left(tasks_.size()), after(tasks_.size(), known_task::no_place);
  for (std::uint32_t p = 0; p != tasks_.size(); ++p) left[p] = g.records[p].predecessors;
  for (auto const& list : lists) {
    for (std::size_t i = 1; i < list.size(); ++i) after[list[i - 1]] = list[i], ++left[list[i]];
  }
  std::vector<std::uint32_t> ready;
  for (std::uint32_t p = 0; p != tasks_.size(); ++p) {
    if (left[p] == 0) ready.push_back(p);
  }
  std::size_t done = 0;
  while (!ready.empty()) {
    std::uint32_t const p = ready.back();
    ready.pop_back();
    ++done;
    if (after[p] != known_task::no_place && --left[after[p]] == 0) ready.push_back(after[p]);
    for (std::uint32_t s = g.records[p].first_successor; s != g.records[p + 1].first_successor; ++s) {
      if (std::uint32_t const to = g.successors[s].position(); --left[to] == 0) ready.push_back(to);
    }
  }
  return done == tasks_.size();
}

HEIST_COLD_BODY void placement_history::follow(graph_data const& g, followed_tasks what) {
  if (what.shape != shape_of(g) || what.tasks.size() != g.nodes.size() - g.erased) {
    throw graph_error{fmt::format(
        "the memory is of another graph: it knows {} tasks, and this graph has {}{}; fix it by a memory of this graph, "
        "or of one that was built in the same way.",
        what.tasks.size(), g.nodes.size() - g.erased,
        what.tasks.size() == g.nodes.size() - g.erased ? ", with other edges" : "")};
  }
  followed_ = std::move(what);
  ++follows_;
}

HEIST_COLD_BODY void placement_history::forget() noexcept {
  followed_.reset();
  ++follows_;
  for (known_task& t : tasks_) t.past = {};
  note_.clear();
}

}  // namespace heist::detail
