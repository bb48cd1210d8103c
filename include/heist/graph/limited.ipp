// Bodies of limited.hpp.
#pragma once

#include "heist/graph/limited.hpp"

#include <fmt/core.h>

#include <functional>  // less
#include <string>
#include <utility>  // exchange
#include <vector>

#include "heist/base/number_map.hpp"

namespace heist::detail {

HEIST_COLD_BODY limited_task& limits_of(record const& r) noexcept {
  return *r.graph->limits[r.built().limits - 1];
}

HEIST_COLD_BODY void give(limiter& l, std::uint32_t count) {
  woken_list<> woken;
  limiter_access::permits_of(l).give(count, woken);
}

HEIST_COLD_BODY void release_amount(limited_task::amount const& a) {
  std::uint32_t const count = a.balance->left_of(a.count);
  if (count == 0) return;
  a.balance->taken.fetch_sub(count, std::memory_order_relaxed);  // relaxed: read after the run
  give(*a.from, count);
}

HEIST_COLD_BODY void release_limits(record const& r) {
  if (r.built().limits == 0) return;
  for (limited_task::amount const& a : limits_of(r).releases) release_amount(a);
}

/// For the next runs: notes what is taken of each limiter.
HEIST_COLD_BODY void graph_data::balance_limits() {
  std::vector<limited_task::amount*> amounts;
  for (auto const& t : limits) {
    if (t == nullptr) continue;
    for (auto& a : t->acquires) amounts.push_back(&a);
    for (auto& a : t->releases) amounts.push_back(&a);
  }
  balances = std::vector<limiter_balance>(amounts.size());
  balance_count = 0;
  number_map known;  // the place of a limiter's balance
  for (limited_task::amount* const a : amounts) {
    auto const [at, is_new] = known.try_emplace(as_key(a->from), balance_count);
    a->balance = &balances[at->second];
    if (is_new) balances[balance_count++].of = a->from;
  }
}

/// Called at the end of a run, while it has the graph. An interrupted run of a graph with conditions gives back what it took.
HEIST_COLD_BODY void graph_data::return_limits(bool interrupted) {
  for (std::size_t i = 0; i < balance_count; ++i) {
    // relaxed: all tasks of the run were reported
    std::int64_t const taken = balances[i].taken.exchange(0, std::memory_order_relaxed);
    balances[i].skipped.store(0, std::memory_order_relaxed);  // relaxed: as above
    if (interrupted && counts_tokens && taken > 0) give(*balances[i].of, static_cast<std::uint32_t>(taken));
  }
}

/// An interrupted run: removes its tasks from the lines of limiters. Under the graph's lock.
HEIST_COLD_BODY void graph_data::leave_lines(woken_list<>& found) noexcept {
  for (auto const& t : limits) {
    if (t == nullptr) continue;
    for (limited_task::amount const& a : t->acquires)
      limiter_access::permits_of(*a.from).leave_if_there(*t, wait_end::stopped, found);
  }
}

/// The tasks of one executor that wait for each other, beginning with `t`: each one's limiter is released by the next task,
/// the last one's by `t`. Empty if there is no circle. Called while a text of the executor's notes is made.
HEIST_COLD_BODY std::vector<limited_task const*> circle_of_limits(limited_task const& t) {
  constexpr std::size_t most = 200;
  // relaxed: for people
  auto const limit_of = [](limited_task const& of) { return of.waits_for.load(std::memory_order_relaxed); };
  auto const releases = [&](limited_task const& by, limiter const* l) {
    // It acquires in the order of addresses, so it does not hold what comes after the one that it waits for.
    for (limited_task::amount const& a : by.acquires) {
      if (a.from == l && !std::less<>{}(l, static_cast<limiter const*>(limit_of(by)))) return false;
    }
    for (limited_task::amount const& a : by.releases) {
      if (a.from == l) return true;
    }
    return false;
  };
  std::vector<limited_task const*> waiting, way{&t};
  for (outside_note const* n = t.home->outside.first(); n != nullptr && waiting.size() != most; n = n->next) {
    if (n == &t || n->text != t.text) continue;
    auto const& other = static_cast<limited_task const&>(*n);
    if (limit_of(other) != nullptr) waiting.push_back(&other);
  }
  std::vector<std::size_t> next{0};
  std::vector<char> seen(waiting.size());
  while (!way.empty()) {
    limiter const* const wanted = limit_of(*way.back());
    if (wanted == nullptr) return {};  // it has gone on meanwhile
    if (way.size() > 1 && releases(t, wanted)) return way;
    std::size_t i = next.back();
    while (i != waiting.size() && (seen[i] || !releases(*waiting[i], wanted))) ++i;
    if (i == waiting.size()) {
      way.pop_back();
      next.pop_back();
      continue;
    }
    next.back() = i + 1;
    seen[i] = 1;
    way.push_back(waiting[i]);
    next.push_back(0);
  }
  return {};
}

HEIST_COLD_BODY std::string name_of_limited(limited_task const& t, bool with_graph) {
  record const& r = *t.resume.task;
  graph_data const& g = *r.graph;
  std::string const name = g.task_name(r.built().index);
  return with_graph ? fmt::format("{} of the graph{}{}", name, g.title.empty() ? "" : " ", g.title) : name;
}

HEIST_COLD_BODY std::string text_of_limited(outside_note const& self) {
  auto const& t = static_cast<limited_task const&>(self);
  limiter const* const wanted = t.waits_for.load(std::memory_order_relaxed);  // relaxed: for people
  std::string text = "task " + name_of_limited(t, true) + " waits for a limiter";
  if (wanted != nullptr) text += fmt::format(" of {}, of which {} are free", wanted->most(), wanted->available());
  text += waited_text(t.since);
  auto const circle = circle_of_limits(t);
  for (std::size_t i = 0; i != circle.size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? "; in a circle: " : ", which waits for ",
                        name_of_limited(*circle[i], circle[i]->resume.task->graph != t.resume.task->graph));
  }
  return circle.empty() ? text : text + ", which waits for the first";
}

/// Acquires for one time that the task is ready. False: the task is in a line, and is resumed. Where the run is
/// interrupted, it notes that nothing was acquired, and the task goes on.
HEIST_COLD_BODY bool acquire_all(limited_task& t) {
  bool skips = false;
  while (t.acquired < t.acquires.size() && !skips) {
    limited_task::amount const& a = t.acquires[t.acquired];
    permits<>& of = limiter_access::permits_of(*a.from);
    if (!t.interrupt->any() && of.try_take(a.count)) {
      ++t.acquired;
      continue;
    }
    t.waits_for.store(a.from, std::memory_order_relaxed);  // relaxed: for people
    if (!std::exchange(t.listed, true)) t.home->outside.add(t);
    t.wants = a.count;
    switch (of.take_or_enter_again(t, [&t] { return t.interrupt->any(); })) {
      case wait_end::served:
        ++t.acquired;
        break;
      case wait_end::none:
        return false;
      default:
        skips = true;
    }
  }
  t.waits_for.store(nullptr, std::memory_order_relaxed);  // relaxed: for people
  if (std::exchange(t.listed, false)) t.home->outside.remove(t);
  if (skips) {
    for (std::size_t i = 0; i != t.acquired; ++i) give(*t.acquires[i].from, t.acquires[i].count);
    for (limited_task::amount const& a : t.acquires)
      a.balance->skipped.fetch_add(a.count, std::memory_order_relaxed);  // relaxed: an amount
  } else {
    for (limited_task::amount const& a : t.acquires)
      a.balance->taken.fetch_add(a.count, std::memory_order_relaxed);  // relaxed: an amount
  }
  t.acquired = 0;
  return true;
}

/// The next one acquires, if the task has been made ready again meanwhile.
HEIST_COLD_BODY void let_next_acquire(limited_task& t, core& home) {
  // acq_rel: the next one acquires after this one
  if (t.arrivals.fetch_sub(1, std::memory_order_acq_rel) != 1) home.make_runnable(t.resume);
}

/// Resumes a task that stood in a line, or that was ready while another worker acquired for it.
HEIST_COLD_BODY runnable* resume_limited(runnable& item, fiber& self) {
  record& r = *static_cast<limited_task::waiting_item&>(item).task;
  limited_task& t = limits_of(r);
  self.running.store(&r, std::memory_order_relaxed);  // relaxed: as in the worker's loop
  self.worker->report_pending_count();
  if (!acquire_all(t)) return nullptr;
  t.held.fetch_add(1,
                   std::memory_order_relaxed);  // relaxed: take_held() only counts; the limiters' locks order the rest
  let_next_acquire(t, self.home);
  return r.run(r, self);  // run_limited(), or the function that first looks whether the task belongs to this worker
}

/// Takes one of the times that the task was acquired for. The times are alike: it does not matter whose it was.
HEIST_COLD_BODY bool take_held(limited_task& t) noexcept {
  std::uint32_t now = t.held.load(std::memory_order_relaxed);  // relaxed: a count
  while (now != 0) {
    if (t.held.compare_exchange_weak(now, now - 1, std::memory_order_relaxed)) return true;  // relaxed: as above
  }
  return false;
}

HEIST_COLD_BODY runnable* run_limited(runnable& task, fiber& self) {
  record& r = static_cast<record&>(task);
  limited_task& t = limits_of(r);
  if (!take_held(t)) {
    // acq_rel: see let_next_acquire()
    if (t.arrivals.fetch_add(1, std::memory_order_acq_rel) != 0) return nullptr;
    t.home = &self.home;
    t.interrupt = &r.graph->current->interrupt;
    t.resume.run = &resume_limited;
    t.resume.what = nullptr;
    t.resume.task = &r;
    t.text = &text_of_limited;
    if (!acquire_all(t)) return nullptr;  // resumed by a release, or by an interruption
    let_next_acquire(t, self.home);
  }
  // What this worker counts is reported later, so the run, and with it `t` and the name, is there until this returns.
  task_view const view = view_of(r);
  self.home.tell_begin(*self.worker, view);
  node_operations const& type = r.built().type();
  runnable* next = nullptr;
  if (type.kind == task_kind::module || type.kind == task_kind::event) {
    next = type.run(r, self);  // releases when its graph has run, or its value has come
  } else {
    next = type.run(r, self);
    release_limits(r);
  }
  self.home.tell_end(*self.worker, view);
  if (next != nullptr && type.kind == task_kind::condition) return choose_in_order(next, *r.graph, self);
  return next;
}

}  // namespace heist::detail
