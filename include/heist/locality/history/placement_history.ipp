// Bodies of placement_history.hpp: a run.
#pragma once

#include "heist/locality/history/placement_history.hpp"

#include <optional>

#include "heist/graph/limited.hpp"
#include "heist/locality/history/task_tracker.hpp"

namespace heist::detail {

HEIST_COLD_BODY placement_history::placement_history() noexcept = default;
HEIST_COLD_BODY placement_history::~placement_history() = default;

HEIST_COLD_BODY bool placement_history::pass_begins(graph_data& g, core& scheduler) noexcept {
  graph_ = &g;
  try {
    plan(g, scheduler);
    put_in_order(g);
  } catch (std::bad_alloc const&) {
    return false;
  }
  if (!wrapped_ || wrapped_layout_ != g.layout_count) {
    for (std::uint32_t p = 0; p != g.record_count; ++p) g.records[p].run = &run;
    wrapped_ = true;
    wrapped_layout_ = g.layout_count;
  }
  if (lists_) {
    lists_->begin_again();
    for (known_task& t : tasks_) t.admitted = t.passed = false;
  }
  counts_misses_ = weighs_values_ && way_ == recall_way::squads && placement_of(scheduler).counts_misses();
  for (started_tasks& b : started_) b.count = 0;
  g.current->interrupt.resumes = is_strict() ? &rule_ : nullptr;
  if (in_run_ == nullptr) {
    in_run_ = &placement_of(scheduler);
    in_run_->graph_begins();
  }
  epoch_ = os_env::nanoseconds();
  return true;
}

HEIST_COLD_BODY void placement_history::run_ends(run_state& r) noexcept {
  r.interrupt.resumes = nullptr;
  in_run_->graph_ends();
  in_run_ = nullptr;
  if (weighs_values_ && !r.interrupted()) {
    weighs_values_ = false;
    count_values(*graph_);
  }
}

HEIST_COLD_BODY void placement_history::detach(graph_data& g) noexcept {
  if (!wrapped_) return;
  wrapped_ = false;
  if (wrapped_layout_ != g.layout_count || !g.layout_valid) return;  // an edited graph's records may name erased tasks
  for (std::uint32_t p = 0; p != g.record_count; ++p) {
    g.records[p].run = g.run_of(g.records[p].built());
  }
}

HEIST_COLD_BODY runnable* placement_history::begin(fiber& self) {
  graph_data& g = *graph_;
  runnable* next = nullptr;
  for (std::size_t i = g.sources.size(); i-- > 0;) {
    record& r = g.records[g.sources[i]];
    known_task& t = of(r);
    os_env::store_shared(t.past.from, self.worker->number);
    if (!is_placed_here(t, *self.worker)) continue;
    if (next != nullptr) keep(static_cast<record&>(*next), self);
    next = &r;
  }
  if (way_ == recall_way::in_order) {
    for (std::size_t w = 0; w != started_.size(); ++w) {
      known_task* const t = lists_->turn(w);
      if (t == nullptr) continue;
      t->admitted = true;
      if (self.worker->number == w) {
        next = t->of;
      } else {
        self.scheduler.make_runnable_on(*self.scheduler.workers[w], *t);
      }
    }
  }
  return next;
}

/// Runs every record while its graph remembers.
HEIST_BODY runnable* placement_history::run(runnable& task, fiber& self) {
  record& r = static_cast<record&>(task);
  auto& me = static_cast<placement_history&>(*r.graph->recalled());
  known_task& t = me.of(r);
  if (me.is_strict() && !me.may_begin(t, self)) return nullptr;
  me.begins(t, *self.worker);
  node& n = r.built();
  task_kind const kind = n.type().kind;
  // A task that may leave its worker before it ends gives its turn on at once.
  if (me.way_ == recall_way::in_order && (n.limits != 0 || kind == task_kind::module || kind == task_kind::event))
    me.admit_next(me.give_turn_on(t), self.scheduler);
  std::optional<task_tracker> tracker;
  if (me.counts_misses_ && !t.declared && !os_env::load_shared(t.counted) && n.limits == 0) [[unlikely]]
    tracker.emplace(t, self);
  runnable* const next = n.limits == 0 ? n.type().run(r, self) : run_limited(r, self);
  if (next == nullptr || kind != task_kind::condition) return next;
  os_env::store_shared(t.past.end, os_env::nanoseconds() - me.epoch_);  // a condition does not finish()
  known_task& chosen = me.of(static_cast<record&>(*next));
  os_env::store_shared(chosen.past.from, self.worker->number);
  return me.is_placed_here(chosen, *self.worker) ? next : nullptr;
}

/// A task that stood in a list, by itself.
HEIST_BODY runnable* placement_history::run_known(runnable& item, fiber& self) {
  auto& t = static_cast<known_task&>(item);
  record& r = *t.of;
  static_cast<placement_history&>(*r.graph->recalled()).left_queue(t, self);
  self.running.store(&r, std::memory_order_relaxed);  // relaxed: as in the worker's loop
  if (self.scheduler.on_task == nullptr || r.built().limits != 0) return r.run(r, self);
  task_view const view = view_of(r);
  self.scheduler.tell_begin(*self.worker, view);
  runnable* const next = r.run(r, self);
  self.scheduler.tell_end(*self.worker, view);
  return next;
}

HEIST_BODY void placement_history::begins(known_task& t, worker const& w) noexcept {
  os_env::store_shared(t.past.worker, w.number);
  os_env::store_shared(t.past.place, started_[w.number].count++);
  os_env::store_shared(t.past.begin, os_env::nanoseconds() - epoch_);
  if (way_ != recall_way::squads) return;
  os_env::store_shared(t.past.squad, w.group);
  if (parts_.squad(t.part) != w.group) parts_.take(t.part, w.group);
}

/// The task is ready. True: the caller puts it into a queue. False: it is in one, because a loop made it ready before.
HEIST_BODY bool placement_history::must_enqueue(known_task& t) noexcept {
  // acq_rel: with left_queue(). A task is ready once in a pass if there are no conditions.
  return !graph_->counts_tokens || t.ready.fetch_add(1, std::memory_order_acq_rel) == 0;
}

/// The worker of `self` has taken the task from a queue. It returns to one as long as it was ready more than once.
HEIST_BODY void placement_history::left_queue(known_task& t, fiber& self) noexcept {
  // acq_rel: the next push comes after this take
  if (!graph_->counts_tokens || t.ready.fetch_sub(1, std::memory_order_acq_rel) == 1) return;
  if (is_strict()) {
    self.scheduler.make_runnable_on(*self.worker, t);
  } else {
    self.scheduler.give(*self.worker, t);
  }
}

/// In strict runs. False: it has been sent to where it belongs.
HEIST_BODY bool placement_history::may_begin(known_task& t, fiber& self) noexcept {
  if (t.scheduler == known_task::no_place) return true;
  core& scheduler = self.scheduler;
  if (way_ == recall_way::in_order && !t.admitted) {
    known_task* const now = lists_->arrive(t.scheduler, t.turn, t);
    if (now == nullptr) return false;
    t.admitted = true;
  }
  if (t.scheduler == self.worker->number) return true;
  if (must_enqueue(t)) scheduler.make_runnable_on(*scheduler.workers[t.scheduler], t);
  return false;
}

HEIST_BODY bool placement_history::is_placed_here(known_task& t, worker& w) noexcept {
  core& scheduler = w.scheduler;
  if (way_ == recall_way::squads) {
    std::uint32_t const to = parts_.squad(t.part);
    if (to == w.group) return true;
    give_to_squad(t, to, scheduler);
    return false;
  }
  if (way_ == recall_way::in_order) {
    known_task* const now = lists_->arrive(t.scheduler, t.turn, t);
    if (now != nullptr) admit_next(now, scheduler);
    return false;
  }
  if (t.scheduler == known_task::no_place || t.scheduler == w.number) return true;
  if (!must_enqueue(t)) return false;
  if (way_ == recall_way::relaxed) {
    scheduler.give(*scheduler.workers[t.scheduler], t);
  } else {
    scheduler.make_runnable_on(*scheduler.workers[t.scheduler], t);
  }
  return false;
}

HEIST_BODY void placement_history::give_to_squad(known_task& t, std::uint32_t number, core& scheduler) noexcept {
  if (!must_enqueue(t)) return;
  std::uint32_t to = os_env::load_shared(t.past.worker);
  if (to >= workers_ || scheduler.workers[to]->group != number) to = worker_of_squad(number, t.part);
  worker& w = *scheduler.workers[to];
  scheduler.give(w, t);
  w.gate->pushed();  // if its squad is busy, other workers may have it
}

/// `r` is ready, belongs to the calling worker and is not run next.
HEIST_BODY void placement_history::keep(record& r, fiber& self) {
  known_task& t = of(r);
  if (is_strict() && t.scheduler != known_task::no_place) {
    if (must_enqueue(t))
      self.worker->own_fibers.push(t);  // its owner looks there before it sleeps: no wake-up is needed
  } else {
    self.scheduler.push(*self.worker, r);
  }
}

/// Returns what its worker is to run now, or null.
HEIST_BODY known_task* placement_history::give_turn_on(known_task& t) noexcept {
  if (t.passed) return nullptr;
  t.passed = true;
  return lists_->turn(t.scheduler);
}

HEIST_BODY void placement_history::admit_next(known_task* t, core& scheduler) noexcept {
  if (t == nullptr) return;
  t->admitted = true;
  scheduler.make_runnable_on(*scheduler.workers[t->scheduler], *t);
}

/// Now: other workers may take it.
HEIST_COLD_BODY void placement_history::weigh_value(known_task& t) noexcept {
  node const& n = t.of->built();
  os_env::store_shared(t.left, n.type().bytes_left == nullptr ? std::uint64_t{0} : n.type().bytes_left(n));
}

HEIST_BODY runnable* placement_history::finish(record& r, fiber& self) {
  graph_data& g = *r.graph;
  known_task& done = of(r);
  os_env::store_shared(done.past.end, os_env::nanoseconds() - epoch_);
  if (weighs_values_) [[unlikely]] {
    weigh_value(done);
    if (counts_misses_) task_tracker::take(done, self);
  }
  bool const tokens = g.counts_tokens;
  if (!tokens) self.worker->count_for(g);
  record* next = nullptr;
  successor const* const first = g.successors + r.first_successor;
  for (successor const* s = g.successors + (&r)[1].first_successor; s != first;) {
    --s;
    if (!s->direct() && !g.counters[s->position()].arrive(self.worker->alone)) continue;
    record& ready = g.records[s->position()];
    known_task& t = of(ready);
    os_env::store_shared(t.past.from, self.worker->number);
    // A token each, as of the task that has ended: that stays until all are on their way, or goes to the last of them.
    if (tokens) g.count_one_more();
    if (!is_placed_here(t, *self.worker)) continue;
    if (next != nullptr) keep(*next, self);
    next = &ready;
  }
  if (tokens) self.worker->count_for(g);
  if (way_ != recall_way::in_order) return next;
  known_task* const due = give_turn_on(done);
  if (due == nullptr) return nullptr;
  if (due->scheduler != self.worker->number) {
    admit_next(due, self.scheduler);
    return nullptr;
  }
  due->admitted = true;
  return due->of;
}

HEIST_COLD_BODY void placement_history::keep_worker::make_ready(fiber& f) noexcept {
  f.scheduler.make_runnable_on(*f.worker, f.resume_item);
}

HEIST_COLD_BODY deferred_call placement_history::keep_worker::left(fiber& f) noexcept {
  if (of_.way_ != recall_way::in_order) return {};
  runnable const* const r = f.running.load(std::memory_order_relaxed);  // relaxed: written by this thread
  if (r == nullptr || r->what == nullptr || r->what->operations->to_text != &text_of_node) return {};
  auto const& at = static_cast<record const&>(*r);
  if (at.graph == of_.graph_) of_.admit_next(of_.give_turn_on(of_.of(at)), f.scheduler);
  return {};
}

}  // namespace heist::detail
