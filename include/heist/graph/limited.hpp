// How a task with limits runs: acquire one after the other, work, release.
#pragma once

#include "heist/graph/graph_data.hpp"
#include "heist/graph/limiter.hpp"

namespace heist::detail {

inline limited_task& limits_of(record const& r) noexcept {
  return *r.graph->limits[r.built().limits - 1];
}

/// Gives back what a task gives back when it is done.
inline void release_limits(limited_task const& t) {
  for (limited_task::amount const& a : t.releases) limiter_access::release(*a.from, a.count);
}

/// The same for a task whose work ends elsewhere than in run_limited(); nothing where there are no limits.
inline void release_limits(record const& r) {
  if (r.built().limits == 0) return;
  limited_task& t = limits_of(r);
  t.acquired = 0;
  release_limits(t);
}

/// Takes the place of the task's own run function.
inline runnable* run_limited(runnable& self, fiber& on) {
  record& r = static_cast<record&>(self);
  limited_task& t = limits_of(r);
  t.home = &on.home;
  t.resume.run = [](runnable& item, fiber& f) -> runnable* {
    record& task = *static_cast<limited_task::waiting_item&>(item).task;
    f.on->report_tally();
    return run_limited(task, f);
  };
  t.resume.what = r.what;
  t.resume.task = &r;
  while (t.acquired < t.acquires.size()) {
    limited_task::amount const& a = t.acquires[t.acquired];
    if (!limiter_access::acquire_or_wait(*a.from, a.count, t)) return nullptr;  // resumed by a release
    ++t.acquired;
  }
  node_operations const& type = r.built().type();
  if (type.kind == task_kind::module) return type.run(r, on);  // releases when its graph has run
  t.acquired = 0;
  // The run may end as soon as this task is counted. Where tasks are counted by tally that is this worker's own doing,
  // later; where tokens are counted, one more keeps the run, and so `t`, alive until everything is given back.
  graph_data& g = *r.graph;
  if (g.counts_tokens) g.token_added();
  runnable* const next = type.run(r, on);
  release_limits(t);
  if (g.counts_tokens) g.token_gone(*on.on);
  return next;
}

}  // namespace heist::detail
