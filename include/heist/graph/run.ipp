// Bodies of run.hpp.
#pragma once

#include "heist/graph/run.hpp"

#include <cstdint>
#include <new>  // nothrow

#include "heist/core/base/assert.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/fiber/current.hpp"
#include "heist/graph/limited.hpp"

namespace heist::detail {

HEIST_BODY caller caller::now() noexcept {
  worker* const w = this_worker();  // kept: asked for the fiber, at once
  if (w == nullptr) return {};
  fiber const& self = *w->current.load(std::memory_order_relaxed);         // relaxed: its own
  runnable const* const t = self.running.load(std::memory_order_relaxed);  // relaxed: written by this thread
  if (t == nullptr || t->what == nullptr) return {};
  auto const to_text = t->what->operations->to_text;
  if (to_text == &text_of_node) return {static_cast<record const*>(t)->graph, false};
  if (to_text == &graph_data::text_of_epilogue) return {static_cast<graph_data::starter_item const*>(t)->graph, true};
  return {};
}

/// The graph of which the run of `g` that is in progress is a task, or null. To be called by a part of that run.
HEIST_BODY graph_data* outer_graph(graph_data const& g) noexcept {
  record const* const outer = g.current->outer;
  return outer == nullptr ? nullptr : outer->graph;
}

HEIST_BODY void reject_own_run(run_state& r) {
  for (graph_data const* g = caller::now().graph; g != nullptr; g = outer_graph(*g)) {
    bool found = false;
    {
      spin_guard guard{g->lock};
      for (run_state const* s = g->current; s != nullptr && !found; s = s->next_in_line) found = s == &r;
    }
    if (!found) continue;
    // A run that its task has started and may not wait for would start, and refuse, another one.
    if (&r != g->current) r.interrupt_with(run_state::stopped_bit);
    throw graph_error{
        "a run is waited for by one of its own tasks or callbacks, or by those of a run that its graph does before "
        "it, so it would never end; fix it by waiting outside, or by a condition task or run_until instead."};
  }
}

HEIST_COLD_BODY void executor_of_run::ask(graph_data& g, std::size_t passes) {
  remote_extension* const remote = scheduler_->extension->executors;
  graph_tuner* const by = remote == nullptr ? nullptr : remote->tuner_of(g);
  if (by == nullptr) {
    if (graph_tuner* const others = g.tuner(); others != nullptr) others->detach(g);
    return;
  }
  scheduler_ = &by->run_starts(g, *scheduler_, passes);
  by_ = by;
}

HEIST_COLD_BODY void executor_of_run::tell_end_of(run_state& r) {
  r.chosen = true;
  r.callback = [by = by_, &r, then = std::move(r.callback)]() mutable {
    by->run_ends(&r);
    if (then) then();
  };
}

HEIST_BODY void run_state::may_wait_for(graph_data& g) noexcept {
  // relaxed: the start of the run publishes it
  if (!g.events.empty() || !g.parts.empty() || !g.limits.empty() || g.on_failure.tell != nullptr)
    waiting.store(&g, std::memory_order_relaxed);
}

HEIST_COLD_BODY void graph_data::reject_unless_between_passes(char const* what) const {
  caller const calling = caller::now();
  if (calling.graph != this || !calling.is_callback) reject_change(what);
  executor_extension const* const extended = current->scheduler->extension.get();
  if (current->chosen || (extended != nullptr && extended->graphs != nullptr)) reject_change_of_history(what);
}

/// The run in progress forgets its notes on the layout. Until the next pass, runs that are started leave the layout alone.
HEIST_COLD_BODY void graph_data::change_between_passes(char const* what) {
  reject_unless_between_passes(what);
  current->forget_waits();
  tell_events();
  events.clear();
  return_limits(current->interrupted());
  balance_count = 0;
  spin_guard guard{lock};
  changed = true;
  layout_valid = false;
}

HEIST_COLD_BODY void run_state::note_failure(std::exception_ptr const& e, record const& of) noexcept {
  run_state* run = this;
  while (run->outer != nullptr) run = run->parent;
  // relaxed: without a handle no caller will ask; if one was just dropped, the note is forgotten
  if (run->handle.load(std::memory_order_relaxed) < held) return;
  auto* const made = new (std::nothrow) task_failure;
  if (made == nullptr) return;
  made->exception = e;
  try {
    made->task = of.graph->task_name(of.built().index);
  } catch (std::bad_alloc const&) {  // then it has no name
  }
  made->next = run->failures.load(std::memory_order_relaxed);  // relaxed: read only after the run has ended
  // release: pairs with exceptions()
  while (!run->failures.compare_exchange_weak(made->next, made, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

HEIST_COLD_BODY bool graph_data::lay_out_changed(run_state& r) {
  bool lays_out = false;
  try {
    for (;;) {
      {
        spin_guard guard{lock};
        if (layout_valid) break;
      }
      lays_out = true;
      lay_out_once(*r.scheduler);
    }
  } catch (...) {
    r.fail(exception_of_task());
    return false;
  }
  {
    spin_guard guard{lock};
    changed = false;
    for (run_state* s = &r; s != nullptr; s = s->next_in_line) s->may_wait_for(*this);
    if (lays_out) arm_events();
  }
  os_env::fence(std::memory_order_seq_cst);  // seq_cst: with a stop's; one of the two sees the other
  return true;
}

/// Lays the graph out if need be and finds a state for one more run of it, owned by the run.
HEIST_BODY run_state& graph_data::prepare_run(core& scheduler) {
  if (scheduler.extension != nullptr) [[unlikely]]
    prepare_recall(scheduler);
  struct release_state {
    void operator()(run_state* s) const noexcept { s->release(); }
  };
  unique_ptr<run_state, release_state> made, replaced;
  for (;;) {
    bool lays_out = false;
    {
      spin_guard guard{lock};
      lays_out = !layout_valid && !changed_by_run();
      run_state* r = nullptr;
      if (!lays_out) {
        for (run_state* s : states) {
          if (s != nullptr && s->reusable()) r = s;
        }
        if (r == nullptr && made != nullptr) {
          r = made.release();
          replaced.reset(std::exchange(states[oldest_state], r));
          oldest_state = (oldest_state + 1) % states.size();
        }
      }
      if (r != nullptr) {
        r->prepare(scheduler);
        r->copy_title(title);
        return *r;
      }
    }
    if (lays_out) {
      lay_out_once(scheduler);
    } else {
      made.reset(new run_state);
    }
  }
}

HEIST_COLD_BODY void reject_worker_of_run() {
  throw graph_error{
      "heist::with{.worker = ...} is said of a run, whose tasks run on all workers; fix it by leaving the worker out, "
      "or by a submitted task."};
}

/// Brings the run where it waits for a worker: among the requests of its priority, or where the caller's tasks are.
HEIST_BODY void graph_data::send_starter(run_state& r) {
  if (r.start_priority == priority::normal) [[likely]]
    return r.scheduler->make_runnable(starter);
  r.scheduler->make_runnable(starter, r.start_priority, nullptr);
}

/// Starts the run, or puts it in line behind the graph's other runs.
HEIST_BODY void graph_data::enqueue(run_state& r) {
  {
    spin_guard guard{lock};
    if (!changed) r.may_wait_for(*this);  // otherwise lay_out_changed() does so
    if (current != nullptr) {
      r.wave = r.scheduler->add_work();
      (last_in_line == nullptr ? current : last_in_line)->next_in_line = &r;
      last_in_line = &r;
      return;
    }
    current = &r;
    if (!events.empty()) [[unlikely]]
      arm_events();
    running.store(true, std::memory_order_relaxed);  // relaxed: for this thread, and for those it tells
  }
  if (r.start_priority != priority::normal) [[unlikely]] {
    r.wave = r.scheduler->add_work();
    return send_starter(r);
  }
  r.scheduler->submit(starter, [&r](unsigned wave) { r.wave = wave; });
}

/// Runs this graph as the work of another graph's task; that task is finished by the end of the run.
HEIST_BODY void graph_data::start_nested(record& outer, core& scheduler) {
  run_state& r = prepare_run(scheduler);
  r.outer = &outer;
  r.parent = outer.graph->current;
  r.interrupt.join_part_of(r.parent->interrupt);
  enqueue(r);
}

HEIST_BODY runnable* graph_data::start_pass(runnable& task, fiber& self) {
  graph_data& g = *static_cast<starter_item&>(task).graph;
  self.worker->report_pending_count();
  run_state& r = *g.current;
  if (r.start_priority >= priority::high) [[unlikely]]
    self.worker->share.urgent_begins(os_env::ticks());
  bool const can_run = !g.changed || g.lay_out_changed(r);
  if (!can_run || (g.sources.empty() && r.part == nullptr) || (r.passes == 0 && !r.again)) {
    g.remaining.store(1, std::memory_order_relaxed);  // relaxed: this worker reports it, when this has returned
    self.worker->count_for(g);
    return nullptr;
  }
  if (r.part != nullptr) [[unlikely]]
    return r.part->begin(g, self);
  if (g.counts_tokens) {
    // A pass may leave counters half down: tasks whose other predecessors were not chosen.
    for (std::uint32_t p = 0; p < g.record_count; ++p) {
      g.counters[p].reset(g.records[p].predecessors);
      node& n = g.records[p].built();
      if (n.type().forget_value != nullptr) n.type().forget_value(n);
    }
  }
  // One more is counted then, for this call: what it touches stays until it has returned.
  if ((self.scheduler.extension != nullptr || g.recall() != nullptr) && g.recall_pass(self.scheduler)) [[unlikely]] {
    auto const tasks = g.counts_tokens ? static_cast<std::uint32_t>(g.sources.size()) : g.record_count;
    g.remaining.store(tasks + 1, std::memory_order_relaxed);  // relaxed: as below
    runnable* const next = g.recalled()->begin(self);
    self.worker->count_for(g);
    return next;
  }
  // relaxed: the pushes publish it
  g.remaining.store(g.counts_tokens ? static_cast<std::uint32_t>(g.sources.size()) : g.record_count,
                    std::memory_order_relaxed);
  // Not through `g` after the last push: with that source the pass may end.
  if (g.urgency != nullptr) {
    ready_offer offer{self};
    std::size_t const count = g.sources.size();
    for (std::size_t i = 0; i != count; ++i) offer.add(g.urgency[g.sources[i]], g.records[g.sources[i]]);
    return offer.begin();
  }
  record* const records = g.records;
  record* const first = &records[g.sources.front()];
  for (std::size_t i = g.sources.size(); i-- > 1;) self.scheduler.push(*self.worker, records[g.sources[i]]);
  return first;
}

/// Before another pass of a run.
HEIST_BODY void graph_data::arm_again() noexcept {
  if (events.empty()) return;
  tell_events();
  spin_guard guard{lock};
  arm_events();
}

/// Tasks are reported here by workers between two tasks, in a join, or before a wait, whichever comes first; never by
/// the call that runs the task. So when a run ends, its last task has returned and its end has been told.
HEIST_BODY void graph_data::add_pending_count(pending_count_holder& self, std::uint32_t n, worker& w) {
  auto& g = static_cast<graph_data&>(self);
  // acq_rel: the last one sees what all did
  if (g.remaining.fetch_sub(n, std::memory_order_acq_rel) == n) g.pass_ended(w);
}

/// Called once per pass, by the worker that reported the last task, wherever it stands: no user code may run here, so
/// calls that might, and destructors of the user's objects, are left to the epilogue, a task of its own.
HEIST_BODY void graph_data::pass_ended(worker& w) {
  run_state& r = *current;
  // relaxed: the pass's tasks have ended
  bool const has_failures = r.failures.load(std::memory_order_relaxed) != nullptr;
  if (r.again || r.callback || r.exception || r.keeps || has_failures || r.outer != nullptr) {
    w.scheduler.push(w, epilogue);
  } else if (!r.interrupted() && r.passes > 1) {
    --r.passes;
    arm_again();
    w.scheduler.push(w, starter);
  } else {
    conclude(r, *w.current.load(std::memory_order_relaxed));  // relaxed: its own
  }
}

/// As pass_ended(), as a task: the callback may wait, so the worker is read anew after it.
HEIST_BODY runnable* graph_data::end_pass(runnable& task, fiber& self) {
  self.worker->report_pending_count();
  graph_data& g = *static_cast<starter_item&>(task).graph;
  run_state& r = *g.current;
  task_view const view = view_of_starter(task);
  self.scheduler.tell_begin(*self.worker, view);
  bool once_more = false;
  if (!r.interrupted()) {
    try {
      once_more = r.again ? r.again() : r.passes > 1;
    } catch (...) {
      r.fail(exception_of_task());
    }
  }
  if (once_more) {
    if (!r.again) --r.passes;
    g.arm_again();
    self.scheduler.tell_end(*self.worker, view);
    return &g.starter;
  }
  if (r.callback) {
    try {
      r.callback();
    } catch (...) {
      r.fail(exception_of_task());
    }
  }
  self.scheduler.tell_end(*self.worker, view);
  self.running.store(nullptr,
                     std::memory_order_relaxed);  // relaxed: as in the worker's loop; the graph may be gone soon
  return g.conclude(r, self);
}

/// The end of a run. Returns what to run next: what a task of another graph, whose work the run was, makes ready.
/// Calls user code only where pass_ended() has said so.
HEIST_BODY runnable* graph_data::conclude(run_state& r, fiber& self) {
  r.stop.reset();
  r.limit.reset();
#if HEIST_CHECKED
  if (counts_tokens && !changed && !r.interrupted() && r.part == nullptr) [[unlikely]]
    warn_of_joins();
#endif
  r.was_stopped = (r.interrupt.why.load(std::memory_order_relaxed) & run_state::stopped_bit) != 0;  // relaxed: a flag
  if (balance_count != 0) return_limits(r.interrupted());
  if (graph_recall* const known = recalled(); known != nullptr) [[unlikely]] {
    known->run_ends(r);
    extended().recalled = nullptr;
    has_slow_finish = counts_tokens || urgency != nullptr;
  }
  if (r.waiting.load(std::memory_order_relaxed) != nullptr) r.forget_waits();  // relaxed: its own
  if (!events.empty()) [[unlikely]]
    tell_events();
  run_state* next = nullptr;
  {
    spin_guard guard{lock};
    next = current = r.next_in_line;
    if (!events.empty()) [[unlikely]]
      next != nullptr ? arm_events() : close_events();
    if (last_in_line == next) last_in_line = nullptr;
    // release: the thread that changes the graph next comes after the run
    if (next == nullptr) running.store(false, std::memory_order_release);
  }
  if (r.start_priority >= priority::high) [[unlikely]]
    self.worker->share.urgent_ends();
  if (next != nullptr) send_starter(*next);
  // From here on the graph may be gone. What the user's callables own may be the graph itself.
  r.again = nullptr;
  r.callback = nullptr;
  r.part = nullptr;
  graph_owner kept = std::move(r.keeps);
  record* const outer = r.outer;
  unsigned const wave = r.wave;
  if (outer != nullptr && r.exception) r.parent->fail(std::move(r.exception));
  // relaxed: the run's tasks have ended
  if (outer == nullptr && (r.exception || r.failures.load(std::memory_order_relaxed) != nullptr)) r.keep_if_released();
  r.finished.complete();
  r.release();
  kept = {};
  core::ended(*self.worker, wave);  // read anew: all that was destroyed may have waited
  if (outer == nullptr) return nullptr;
  return end_of_module(*outer, self);
}

HEIST_BODY void graph_data::let_go(graph_owner g) {
  if (!g) return;
  caller const calling = caller::now();
  if (calling.graph == g.get() && calling.is_callback) {
    graph_data& of = *g;
    spin_guard guard{of.lock};
    (of.last_in_line != nullptr ? of.last_in_line : of.current)->keeps = std::move(g);
    return;
  }
  for (graph_data const* at = calling.graph; at != nullptr; at = outer_graph(*at)) {
    if (at == g.get()) {
      HEIST_FATAL(
          "a task destroys the graph that it is a task of, or assigns to it, and would wait for its own end; fix it by "
          "doing so in a callback of the run, or after the run.");
    }
  }
  g->wait_until_idle();
}

/// Returns when no run is in progress or in line.
HEIST_BODY void graph_data::wait_until_idle() noexcept {
  for (;;) {
    run_state* r = nullptr;
    {
      spin_guard guard{lock};
      r = last_in_line != nullptr ? last_in_line : current;
      if (r == nullptr) return;
      r->retain();
    }
    bool forked = false;
    try {
      wait_to_the_end(r->finished, r->generation, {"the runs of a graph, to destroy it"});
    } catch (executor_error const&) {
      forked = true;  // a child of fork(): no worker runs it here
    }
    r->release();
    if (forked) return;
  }
}

}  // namespace heist::detail
