// Bodies of limited.hpp.
#pragma once

#include "heist/graph/limited.hpp"

#include <unordered_map>

namespace heist::detail {

HEIST_COLD_BODY limited_task& limits_of(record const& r) noexcept {
  return *r.graph->limits[r.built().limits - 1];
}

HEIST_COLD_BODY void release_limits(limited_task const& t) {
  for (limited_task::amount const& a : t.releases) {
    a.note(-std::int64_t{a.count});
    limiter_access::release(*a.from, a.count);
  }
}

HEIST_COLD_BODY void release_limits(record const& r) {
  if (r.built().limits == 0) return;
  limited_task& t = limits_of(r);
  t.acquired = 0;
  release_limits(t);
}

/// For the next runs: notes what is taken of each limiter.
HEIST_COLD_BODY void graph_data::balance_limits() {
  std::vector<limited_task::amount*> amounts;
  for (auto const& t : limits) {
    if (t == nullptr) continue;
    for (auto& a : t->acquires) amounts.push_back(&a);
    for (auto& a : t->releases) amounts.push_back(&a);
  }
  balances = counts_tokens ? std::vector<limiter_balance>(amounts.size()) : std::vector<limiter_balance>{};
  balance_count = 0;
  std::unordered_map<limiter*, limiter_balance*> known;
  for (limited_task::amount* const a : amounts) {
    a->balance = nullptr;
    if (!counts_tokens) continue;
    limiter_balance*& b = known[a->from];
    if (b == nullptr) {
      b = &balances[balance_count++];
      b->of = a->from;
    }
    a->balance = b;
  }
}

/// At the end of a run, while it has the graph: what an interrupted one has taken is given back.
HEIST_COLD_BODY void graph_data::return_limits(bool interrupted) {
  for (std::size_t i = 0; i < balance_count; ++i) {
    // relaxed: all tasks of the run were reported
    std::int64_t const taken = balances[i].taken.exchange(0, std::memory_order_relaxed);
    if (interrupted && taken > 0) limiter_access::release(*balances[i].of, static_cast<std::uint32_t>(taken));
  }
}

HEIST_COLD_BODY runnable* run_limited(runnable& task, fiber& self) {
  record& r = static_cast<record&>(task);
  limited_task& t = limits_of(r);
  t.home = &self.home;
  t.resume.run = [](runnable& item, fiber& f) -> runnable* {
    record& waiting = *static_cast<limited_task::waiting_item&>(item).task;
    f.running.store(&waiting, std::memory_order_relaxed);  // relaxed: as in the worker's loop
    f.worker->report_pending_count();
    return waiting.run(waiting, f);  // run_limited(), or what sees first whether it belongs here
  };
  t.resume.what = nullptr;
  t.resume.task = &r;
  while (t.acquired < t.acquires.size()) {
    limited_task::amount const& a = t.acquires[t.acquired];
    if (!limiter_access::acquire_or_wait(*a.from, a.count, t)) return nullptr;  // resumed by a release
    ++t.acquired;
  }
  for (limited_task::amount const& a : t.acquires) a.note(a.count);
  // What this worker counts is reported later, so the run, and with it `t` and the name, is there until this returns.
  task_view const view = view_of(r);
  self.home.tell_begin(*self.worker, view);
  node_operations const& type = r.built().type();
  runnable* next = nullptr;
  if (type.kind == task_kind::module || type.kind == task_kind::event) {
    next = type.run(r, self);  // releases when its graph has run, or its value has come
  } else {
    t.acquired = 0;
    next = type.run(r, self);
    release_limits(t);
  }
  self.home.tell_end(*self.worker, view);
  if (next != nullptr && type.kind == task_kind::condition) return choose_in_order(next, *r.graph, self);
  return next;
}

}  // namespace heist::detail
