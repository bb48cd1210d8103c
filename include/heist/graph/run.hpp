// How a graph runs: lines of runs, passes, and their ends (README.md, "How a run ends"). Bodies of graph_data.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>  // forward, move

#include "heist/graph/build.hpp"
#include "heist/graph/graph_data.hpp"
#include "heist/graph/layout.hpp"
#include "heist/graph/limited.hpp"

namespace heist::detail {

[[noreturn]] inline void refuse_self() {
  throw graph_error{
      "a graph is composed into itself, directly or through others, and would never end; mend it by composing "
      "a copy, or by a loop with a condition task."};
}

/// Throws if `g` is among the graphs that `part` runs, at any depth.
inline void refuse_containing_itself(graph_data const& g, graph_data const& part) {
  for (auto const& inner : part.parts) {
    if (inner.graph.get() == &g) refuse_self();
    refuse_containing_itself(g, *inner.graph);
  }
}

/// Lays the graph out if need be and finds a state for one more run of it, owned by the run.
inline run_state& graph_data::prepare_run(core& home) {
  refuse_containing_itself(*this, *this);
  std::exception_ptr old;  // an object of the user's, not to be destroyed under the lock
  spin_guard guard{lock};
  if (!laid_out) lay_out();
  run_state* r = nullptr;
  for (run_state* s : states) {
    if (s->reusable()) r = s;
  }
  if (r == nullptr) {
    states.reserve(states.size() + 1);
    r = new run_state;
    states.push_back(r);
  }
  r->interrupt.why.store(0, std::memory_order_relaxed);  // relaxed: the start of the run publishes it
  r->interrupt.outer = nullptr;
  r->finished.reset();
  old = std::exchange(r->exception, nullptr);
  r->was_stopped = false;
  r->next_in_line = nullptr;
  r->outer = nullptr;
  r->parent = nullptr;
  r->home = &home;
  r->generation = home.generation();
  r->passes = 1;
  r->retain();
  return *r;
}

/// Starts the run, or puts it in line behind the graph's other runs.
inline void graph_data::enqueue(run_state& r) {
  {
    spin_guard guard{lock};
    if (current != nullptr) {
      r.home->began();
      (last_in_line == nullptr ? current : last_in_line)->next_in_line = &r;
      last_in_line = &r;
      return;
    }
    current = &r;
    running.store(true, std::memory_order_relaxed);  // relaxed: for this thread, and for those it tells
  }
  r.home->submit(starter);
}

template <class... Options>
graph_run graph_data::start(core& home, std::size_t passes, unique_function<bool()> again, Options&&... options) {
  home.check_process();
  run_state& r = prepare_run(home);
  graph_run handle{r};  // owns what the run will own, until it is certain that there is a run
  r.again = std::move(again);
  r.passes = passes;
  [[maybe_unused]] auto const apply = [&](auto&& option) {
    using type = std::decay_t<decltype(option)>;
    if constexpr (std::is_same_v<type, std::stop_token>) {
      if (option.stop_possible())
        r.stop.emplace(std::forward<decltype(option)>(option), run_state::interrupt_on_stop{&r});
    } else {
      static_assert(
          std::is_invocable_v<type&>,
          "heist: what follows the graph in run() is a std::stop_token or a callable without parameters, which "
          "is called when the run has ended; mend the argument.");
      r.callback = std::forward<decltype(option)>(option);
    }
  };
  try {
    (apply(std::forward<Options>(options)), ...);
  } catch (...) {
    r.stop.reset();
    r.again = nullptr;
    throw;
  }
  r.retain();
  enqueue(r);
  return handle;
}

/// Runs this graph as the work of another graph's task; that task is finished by the end of the run.
inline void graph_data::start_nested(record& outer, core& home) {
  run_state& r = prepare_run(home);
  r.outer = &outer;
  r.parent = outer.graph->current;
  r.interrupt.outer = &r.parent->interrupt;
  enqueue(r);
}

inline runnable* graph_data::start_pass(runnable& self, fiber& on) {
  graph_data& g = *static_cast<starter_item&>(self).graph;
  worker& w = *on.on;
  w.report_tally();
  run_state& r = *g.current;
  if (g.sources.empty() || (r.passes == 0 && !r.again)) {
    g.pass_ended(w);
    return nullptr;
  }
  if (g.counts_tokens) {
    // A pass may leave counters half down: tasks whose other predecessors were not chosen.
    for (std::uint32_t p = 0; p < g.record_count; ++p) {
      g.counters[p].reset(g.records[p].predecessors);
      node& n = g.records[p].built();
      if (n.type().forget_value != nullptr) n.type().forget_value(n);
    }
    g.tokens.store(static_cast<std::uint32_t>(g.sources.size()), std::memory_order_relaxed);  // relaxed: pushes publish
  } else {
    g.remaining.store(g.record_count, std::memory_order_relaxed);  // relaxed: the pushes publish it
  }
  // Not through `g` after the last push: with that source the pass may end.
  record* const records = g.records;
  record* const first = &records[g.sources.front()];
  for (std::size_t i = g.sources.size(); i-- > 1;) on.home.push(*on.on, records[g.sources[i]]);
  return first;
}

inline void graph_data::add_tally(tally_keeper& self, std::uint32_t n, worker& w) {
  auto& g = static_cast<graph_data&>(self);
  // acq_rel: the last one sees what all did
  if (g.remaining.fetch_sub(n, std::memory_order_acq_rel) == n) g.pass_ended(w);
}

/// Called once per pass, by the worker that reported the last task, wherever it stands: no user code is called here.
inline void graph_data::pass_ended(worker& w) {
  run_state& r = *current;
  if (r.again || r.callback) {
    w.home.push(w, ender);
  } else if (!r.interrupted() && r.passes > 1) {
    --r.passes;
    w.home.push(w, starter);
  } else {
    conclude(r, *w.current.load(std::memory_order_relaxed));  // relaxed: its own
  }
}

/// As pass_ended(), where user code must be called; it may wait, so the worker is read anew after it.
inline runnable* graph_data::end_pass(runnable& self, fiber& on) {
  on.on->report_tally();
  graph_data& g = *static_cast<starter_item&>(self).graph;
  run_state& r = *g.current;
  bool once_more = false;
  if (!r.interrupted()) {
    try {
      once_more = r.again ? r.again() : r.passes > 1;
    } catch (...) {
      r.fail(std::current_exception());
    }
  }
  if (once_more) {
    if (!r.again) --r.passes;
    return &g.starter;
  }
  if (r.callback) {
    try {
      r.callback();
    } catch (...) {
      r.fail(std::current_exception());
    }
  }
  g.conclude(r, on);
  return nullptr;
}

/// The end of a run.
inline void graph_data::conclude(run_state& r, fiber& on) {
  r.stop.reset();
  r.was_stopped = (r.interrupt.why.load(std::memory_order_relaxed) & run_state::stopped_bit) != 0;  // relaxed: a flag
  run_state* next = nullptr;
  {
    spin_guard guard{lock};
    next = current = r.next_in_line;
    if (last_in_line == next) last_in_line = nullptr;
    // release: whoever changes the graph next comes after the run
    if (next == nullptr) running.store(false, std::memory_order_release);
  }
  if (next != nullptr) next->home->make_runnable(starter);
  // From here on the graph may be gone. What the user's callables own may be the graph itself.
  r.again = nullptr;
  r.callback = nullptr;
  worker& w = *on.on;  // what the callables held may have waited when it was destroyed
  record* const outer = r.outer;
  if (outer != nullptr && r.exception) r.parent->fail(r.exception);
  r.finished.complete();
  r.release();
  core::ended(w);
  if (outer == nullptr) return;
  release_limits(*outer);
  if (runnable* const after = finish(*outer, on); after != nullptr) w.home.push(*on.on, *after);
}

/// Returns when no run is in progress or in line.
inline void graph_data::wait_until_idle() noexcept {
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
      wait_for(r->finished, r->generation);
    } catch (executor_error const&) {
      forked = true;  // a child of fork(): nobody runs it here
    }
    r->release();
    if (forked) return;
  }
}

}  // namespace heist::detail
