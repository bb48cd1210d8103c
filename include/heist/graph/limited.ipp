// Bodies of limited.hpp.
#pragma once

#include "heist/graph/limited.hpp"

#include <string>
#include <utility>  // exchange

#include "heist/core/base/format.hpp"
#include "heist/core/base/number_map.hpp"
#include "heist/core/base/vector.hpp"

namespace heist::detail {

HEIST_COLD_BODY limited_task& limits_of(record const& r) noexcept {
  return *r.graph->limits[r.built().limits - 1];
}

HEIST_COLD_BODY void give(limiter& l, std::uint32_t count) {
  wake_list<> notified;
  limiter_access::permits_of(l).give(count, notified);
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
  vector<limited_task::amount*> amounts;
  for (auto const& t : limits) {
    if (t == nullptr) continue;
    for (auto& a : t->acquires) amounts.push_back(&a);
    for (auto& a : t->releases) amounts.push_back(&a);
  }
  balances = vector<limiter_balance>(amounts.size());
  balance_count = 0;
  number_map known;  // the place of a limiter's balance
  for (limited_task::amount* const a : amounts) {
    auto const [place, is_new] = known.try_emplace(as_key(a->from), balance_count);
    a->balance = &balances[place];
    if (is_new) balances[balance_count++].of = a->from;
  }
}

/// Called at the end of a run, while it has the graph. An interrupted run of a graph with conditions gives back what it took.
HEIST_COLD_BODY void graph_data::return_limits(bool interrupted) {
  for (std::size_t i = 0; i < balance_count; ++i) {
    // relaxed: all tasks of the run were reported
    std::int64_t const taken = balances[i].taken.exchange(0, std::memory_order_relaxed);
    balances[i].skipped.store(0, std::memory_order_relaxed);  // relaxed: as above
    if (interrupted && (counts_tokens || current->part != nullptr) && taken > 0)
      give(*balances[i].of, static_cast<std::uint32_t>(taken));
  }
}

/// An interrupted run: removes its tasks from the lines of limiters. Under the graph's lock.
HEIST_COLD_BODY void graph_data::leave_lines(wake_list<>& found) noexcept {
  for (auto const& t : limits) {
    if (t == nullptr) continue;
    for (limited_task::amount const& a : t->acquires)
      limiter_access::permits_of(*a.from).leave_if_there(*t, wait_end::stopped, found);
  }
}

HEIST_COLD_BODY void look_at_limited(outside_note const& self, bool runs, wait_look& seen) noexcept {
  auto const& t = static_cast<limited_task const&>(self);
  limiter const* const wanted = runs ? nullptr : t.waits_for.load(std::memory_order_relaxed);  // relaxed: for people
  if (!runs && wanted == nullptr) return;  // it has gone on meanwhile
  auto const find = [&t](limiter const* l) {
    auto at = t.acquires.begin();
    while (at != t.acquires.end() && at->from != l) ++at;
    return at;
  };
  // It acquires in the order of addresses, so it holds those before the one that it waits for.
  for (limited_task::amount const& a : t.acquires) {
    if (runs || as_key(a.from) < as_key(wanted)) seen.hold(a.from, a.count);
  }
  // Permits that a task before it has acquired.
  for (limited_task::amount const& a : t.releases) {
    if (find(a.from) == t.acquires.end() && a.balance->taken.load(std::memory_order_relaxed) > 0)  // relaxed: as above
      seen.hold(a.from, a.count);
  }
  if (runs) return;
  seen.number = 1;  // it stays until the text is made
  seen.from = end_of_node(*t.resume.task);
  seen.to = wanted;
  seen.spare = static_cast<std::uint32_t>(wanted->max()) - find(wanted)->count;
  seen.of_semaphore = limiter_access::is_semaphore(*wanted);
}

HEIST_COLD_BODY std::string name_of_limited(limited_task const& t) {
  record const& r = *t.resume.task;
  graph_data const& g = *r.graph;
  return format_text("{} of the graph{}{}", {g.task_name(r.built().index), g.title.empty() ? "" : " ", g.title});
}

HEIST_COLD_BODY std::string text_of_limited(outside_note const& self) {
  auto const& t = static_cast<limited_task const&>(self);
  limiter const* const wanted = t.waits_for.load(std::memory_order_relaxed);  // relaxed: for people
  std::string text = "task " + name_of_limited(t) + " waits for a limiter";
  if (wanted != nullptr) text += format_text(" of {}, of which {} are free", {wanted->max(), wanted->available()});
  return text + wait_text(t.since);
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
    if (!std::exchange(t.listed, true)) t.scheduler->outside.add(t);
    t.needs = a.count;
    switch (of.take_or_enter_again(t, [&t] { return t.interrupt->any(); })) {
      case wait_end::completed:
        ++t.acquired;
        break;
      case wait_end::none:
        return false;
      default:
        skips = true;
    }
  }
  t.waits_for.store(nullptr, std::memory_order_relaxed);  // relaxed: for people
  if (std::exchange(t.listed, false)) t.scheduler->outside.remove(t);
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
HEIST_COLD_BODY void let_next_acquire(limited_task& t, core& scheduler) {
  // acq_rel: the next one acquires after this one
  if (t.arrivals.fetch_sub(1, std::memory_order_acq_rel) != 1) scheduler.make_runnable(t.resume);
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
  let_next_acquire(t, self.scheduler);
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
    t.scheduler = &self.scheduler;
    t.interrupt = &r.graph->current->interrupt;
    t.resume.run = &resume_limited;
    t.resume.what = nullptr;
    t.resume.task = &r;
    t.text = &text_of_limited;
    t.look = &look_at_limited;
    if (!acquire_all(t)) return nullptr;  // resumed by a release, or by an interruption
    let_next_acquire(t, self.scheduler);
  }
  // This worker reports its count later, so the run, and with it `t` and the name, is there until this returns.
  task_view const view = view_of(r);
  self.scheduler.tell_begin(*self.worker, view);
  node_operations const& type = r.built().type();
  runnable* next = nullptr;
  outside_note const* const below = std::exchange(self.limits, &t);
  if (type.kind == task_kind::module || type.kind == task_kind::event) {
    next = type.run(r, self);  // releases when its graph has run, or its value has come
  } else {
    next = type.run(r, self);
    release_limits(r);
  }
  self.limits = below;
  self.scheduler.tell_end(*self.worker, view);
  if (next != nullptr && type.kind == task_kind::condition) return choose_in_order(next, *r.graph, self);
  return next;
}

}  // namespace heist::detail
