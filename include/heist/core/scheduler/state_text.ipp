// An executor's report on itself, for a user that looks at a hang. Bodies of core.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <string>
#include <vector>

#include "heist/core/base/format.hpp"
#include "heist/core/observe/parked_cycle.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/core/scheduler/wait.hpp"
#include "heist/core/topology/read_file.hpp"

namespace heist::detail {

/// Describes a thread that seems to run a task, if the system says that it sleeps.
HEIST_COLD_BODY char const* sleeping_text(int thread) {
  std::string text;
  topology::detail::read_file(format_text("/proc/self/task/{}/stat", {thread}), 4096, text);
  std::size_t const name_ends = text.rfind(')');  // "number (name) state ..."
  if (name_ends == std::string::npos || name_ends + 2 >= text.size() || text[name_ends + 2] != 'S') return "";
  return ", its thread sleeps outside of heist (in a lock, a system call, or before a static variable that a task "
         "which waits is initialising)";
}

HEIST_COLD_BODY watchdog::look core::look() const {
  watchdog::look seen;
  auto const mix = [&seen](auto value) {
    seen.state = (seen.state ^ std::hash<decltype(value)>{}(value)) * 0x9e3779b97f4a7c15u;
  };
  bool waits = work.waiters() != 0 || !requests.maybe_empty() || !threads_that_wait().empty();
  for (auto const& w : workers) {
    fiber const* const f = w->current.load(std::memory_order_acquire);  // acquire: see worker::current
    mix(f);
    mix(f->running.load(std::memory_order_relaxed));  // relaxed: for people
    mix(work.ended_snapshot(w->number));
    mix(w->deque.size_snapshot());
    waits = waits || !w->deque.maybe_empty();
  }
  for (fiber const* f = all_fibers(); f != nullptr; f = f->next_of_all.get()) waits = waits || f->note.waits();
  waits = waits || !outside.empty();
  seen.any_waiting = waits && !work.all_over();
  return seen;
}

/// Adds the executors from `next` on. Meanwhile no executor ends, and no task leaves a list of those that wait without a fiber.
HEIST_COLD_BODY std::string core::cycle_among(outside_note const* next, vector<parked_place>& places) {
  if (next == nullptr) return text_of_cycle(places);
  core const& c = *static_cast<enrolled const*>(next)->self;
  outside_waits::reader const queued{c.outside};
  c.add_places(places);
  for (outside_note const* n = queued.first; n != nullptr; n = n->next) {
    if (n->look != nullptr) places.push_back({nullptr, 0, 0, n});
  }
  return cycle_among(next->next, places);
}

HEIST_COLD_BODY void core::add_places(vector<parked_place>& places) const {
  for (fiber const* f = all_fibers(); f != nullptr; f = f->next_of_all.get())
    places.push_back({&f->note, f->memory_bottom(), f->memory_bytes()});
}

HEIST_COLD_BODY std::string core::state_text() const {
  std::uint32_t const thieves = gate_ != nullptr ? gate_->thieves() : extension->sleep->thieves();
  std::string text = format_text("{} workers, {} thieves, injector {}\n",
                                 {workers.size(), thieves, requests.maybe_empty() ? "empty" : "not empty"});
  if (extension != nullptr) text += extension->state_text();
  for (auto const& w : workers) {
    // relaxed: a snapshot for people
    char const* const state = w->state.load(std::memory_order_relaxed);
    text += format_text(
        "  worker {} squad {}: {}, deque {}, ended {}{}\n",
        {w->number, where.squads().squad_of[w->number], state, w->deque.size_snapshot(), work.ended_snapshot(w->number),
         // relaxed: for people
         state == worker::running ? sleeping_text(w->thread.load(std::memory_order_relaxed)) : ""});
  }
  constexpr std::size_t most = 100;
  std::size_t parked = 0;
  vector<parked_place> places;
  add_places(places);
  for (parked_place const& p : places) {
    std::string const note = p.note->text();
    if (note.empty() || ++parked > most) continue;
    text += "  parked: " + note;
    if (std::uintptr_t const owner = p.note->owner(); owner != 0) {
      parked_note const* const by = owner_of(owner, places);
      std::string const what_it_does = by != nullptr ? by->text() : "what runs, or by another executor's";
      text.append(", which is held by ").append(what_it_does, 0, what_it_does.find(" waits for"));
    }
    text += wait_text(p.note->since()) + "\n";
  }
  if (parked > most) text += format_text("  and {} more parked tasks\n", {parked - most});
  {
    outside_waits::reader const executors{all_enrolled};
    places.clear();
    if (std::string const cycle = cycle_among(executors.first, places); !cycle.empty()) text += "  " + cycle + "\n";
  }
  text += outside.text(most);
  text += threads_that_wait().text(most);
  if (work.waiters() != 0) text += format_text("  {} wait for all work to end\n", {work.waiters()});
  return text;
}

}  // namespace heist::detail
