// Bodies of event_part.hpp, and what a run does with the events of its graph.
#pragma once

#include "heist/graph/event_part.hpp"

#include "heist/core/base/format.hpp"
#include "heist/graph/graph_data.hpp"
#include "heist/graph/limited.hpp"
#include "heist/graph/typed_node.hpp"

namespace heist::detail {

HEIST_COLD_BODY std::string event_text(outside_note const& self) {
  record const& r = *static_cast<event_part const&>(self).at;
  graph_data const& g = *r.graph;
  return format_text("event {} of the graph{}{} waits to be fulfilled{}",
                     {g.task_name(r.built().index), g.title.empty() ? "" : " ", g.title, wait_text(self.since)});
}

HEIST_COLD_BODY event_part::event_part(void (*how)(event_part& self, run_state& of)) noexcept : take_in{how} {
  known.complete();  // no run
  text = &event_text;
  item.what = nullptr;  // a part of a task that observers have been told of
  item.of = this;
  item.run = [](runnable& task, fiber& self) -> runnable* {
    event_part& me = *static_cast<arrival&>(task).of;
    record& r = *me.at;
    self.running.store(&r, std::memory_order_relaxed);  // relaxed: as in the worker's loop
    self.worker->work_for(*r.graph);
    return me.complete(r, self, true);
  };
}

HEIST_COLD_BODY runnable* event_part::reached(record& r, fiber& self) {
  graph_data& g = *r.graph;
  // acq_rel: with complete(), so that one at a time is past here
  if (arrivals.fetch_add(1, std::memory_order_acq_rel) != 0) return nullptr;
  at = &r;
  if (!is_patient && g.current->interrupted()) {
    [[maybe_unused]] bool const waits = word.drop();  // no thread does
  }
  if (word.full()) return complete(r, self, false);
  g.count_one_more();  // the task may end before this call has returned
  self.scheduler.outside.add(*this);
  bool const is_there = word.reach();
  self.worker->count_for(g);
  return is_there ? complete(r, self, true) : nullptr;
}

HEIST_COLD_BODY runnable* event_part::complete(record& r, fiber& self, bool listed) {
  if (!std::exchange(has_taken, true)) take_in(*this, *r.graph->current);
  tell();
  if (listed) self.scheduler.outside.remove(*this);
  // acq_rel: with reached(). From here on the next one may come by.
  for (std::uint32_t times = arrivals.exchange(0, std::memory_order_acq_rel); times > 1; --times) {
    release_limits(r);
    if (runnable* const ready = finish(r, self); ready != nullptr) self.scheduler.push(*self.worker, *ready);
  }
  release_limits(r);
  return finish(r, self);
}

HEIST_COLD_BODY bool event_part::claim(graph_data& of, std::uint32_t index) {
  switch (word.claim()) {
    case event_claim::mine:
      return true;
    case event_claim::released:
      return false;
    case event_claim::twice:
      reject_event(of.task_name(index), false);
    default:
      reject_event(of.task_name(index), true);
  }
}

HEIST_COLD_BODY void event_part::fail(std::exception_ptr why, graph_data& of, std::uint32_t index) {
  if (!claim(of, index)) return;
  exception = std::move(why);
  if (word.fill()) resume();
}

HEIST_COLD_BODY void event_part::resume() {
  at->graph->current->scheduler->make_runnable(item);
}

HEIST_COLD_BODY void reject_event(std::string const& name, bool no_run) {
  throw graph_error{
      no_run ? format_text("event {} is fulfilled while no run of its graph is in progress, so no task would take the "
                           "value; fix it by fulfilling it after run() has returned and before the run has ended.",
                           {name})
             : format_text("event {} is fulfilled twice in one run; fix it by fulfilling it once in each.", {name})};
}

/// Lists the events, for the runs to come.
HEIST_COLD_BODY void graph_data::find_events() {
  events.clear();
  for (node* n : nodes) {
    if (n != nullptr && n->type().event != nullptr) events.push_back(n->type().event(*n));
  }
}

HEIST_COLD_BODY void graph_data::arm_events() noexcept {
  for (event_part* e : events) {
    e->word.arm();
    e->has_taken = false;
    e->known.reset();
  }
}

/// A run or a pass has ended, which conditions may have led around events.
HEIST_COLD_BODY void graph_data::tell_events() noexcept {
  for (event_part* e : events) e->tell();
}

HEIST_COLD_BODY void graph_data::close_events() noexcept {
  for (event_part* e : events) e->word.close();
}

/// A run is interrupted. Finds the events and the limiters that the run, or a part of it, waits for; ends these waits.
HEIST_COLD_BODY bool graph_data::end_waits(run_state const& of, bool is_part, ended_waits& found) noexcept {
  spin_guard guard{lock};
  if (current == nullptr || (is_part ? current->parent : current) != &of)
    return false;  // its turn is to come, or it is over
  for (event_part* e : events) {
    if (e->is_patient || !e->word.drop()) continue;
    e->item.next = found.events;
    found.events = &e->item;
  }
  leave_lines(found.limited);
  for (part const& p : parts) p.graph->end_waits(*current, true, found);
  return true;
}

HEIST_COLD_BODY void run_state::end_waits(std::uint32_t why) noexcept {
  graph_data::ended_waits found;
  graph_data::failure_listener listener;
  {
    spin_guard guard{waiting_lock};
    if (graph_data* const g = waiting.load(std::memory_order_relaxed); g != nullptr) {  // relaxed: the lock
      if (g->end_waits(*this, false, found) && why == failed_bit) listener = g->on_failure;
    }
  }
  if (listener.tell != nullptr) listener.tell(listener.to);
  // Each task holds the run up, so all is there until the last one is resumed.
  while (found.events != nullptr) {
    queued_runnable& now = *found.events;
    found.events = std::exchange(now.next, nullptr);
    scheduler->make_runnable(now);
  }
}

HEIST_COLD_BODY void run_state::forget_waits() noexcept {
  spin_guard guard{waiting_lock};
  waiting.store(nullptr, std::memory_order_relaxed);  // relaxed: the lock
}

}  // namespace heist::detail
