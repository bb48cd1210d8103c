// Makes a program for the simulator of a task graph that has run on an executor with a recorder.
#pragma once

#include <fmt/core.h>

#include <algorithm>  // max, min, nth_element
#include <array>
#include <cstddef>  // size_t
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>  // move
#include <vector>

#include "heist/core/base/errors.hpp"
#include "heist/graph/access.hpp"
#include "heist/graph/task_graph.hpp"
#include "heist/tools/observe/recorder.hpp"
#include "heist/tools/simulate/recorded_program.hpp"
#include "heist/tools/simulate/sim_error.hpp"

namespace heist {

/// Returns the graph `g` as a recorded program: its edges, and for each task its shortest time in all runs of
/// `recording`. The time has neither the waits of the task nor the measured time of an empty task.
///
/// heist::executor<heist::policy::random, heist::recorder> ex; ex.run_n(g, 5).get(); auto const program =
/// heist::record_graph(g, ex.observer());
///
/// The task that runs a composed graph becomes two tasks, one before and one after the graph's tasks. Forks and joins
/// of a task are part of the task. The result has no limiters, and no data about memory.
///
/// Throws graph_error for an empty graph, and for conditions: the graph does not determine how often their successors
/// run. Throws sim_error if a task has not run, or if the recorder has dropped events. Do not call it while the graph
/// or another task of the executor runs. Cost: O(events + tasks + edges).
sim::recorded_program record_graph(task_graph const& g, recorder const& recording);

namespace detail {

/// How long each task of a recording was at work, at the shortest.
class task_times {
 public:
  explicit task_times(recorder const& recording) : recording_{recording}, workers_(recording.worker_count()) {
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      if (std::size_t const lost = recording.released(w); lost != 0) {
        throw sim_error{
            fmt::format("the recorder had no room for {} events of worker {}, so tasks are missing; fix it by a "
                        "larger capacity, or fewer runs",
                        lost, w)};
      }
    }
    for (std::size_t w = earliest(); w != none; w = earliest()) replay(w, recording_.event_at(w, workers_[w].next++));
  }

  struct times {
    std::int64_t min_time = 0;
    std::uint32_t runs = 0;
  };
  /// The times of the task whose observer id is `id`; no runs if it has none.
  times of(void const* id) const {
    auto const found = times_.find(id);
    return found == times_.end() ? times{} : found->second;
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};

  struct open_task {
    void const* id;
    std::int64_t elapsed;
  };
  struct row {
    std::size_t next = 0;
    std::int64_t since = 0;  ///< when the youngest task began to work
    std::vector<open_task> tasks{};
  };

  /// Events of one fiber are in the order of time, on whichever workers: what resumes was parked before.
  std::size_t earliest() const {
    std::size_t best = none;
    auto const before = [&](std::size_t a, std::size_t b) {
      recorded_event const& x = recording_.event_at(a, workers_[a].next);
      recorded_event const& y = recording_.event_at(b, workers_[b].next);
      return x.ns < y.ns || (x.ns == y.ns && y.what == event_kind::resume && x.what != event_kind::resume);
    };
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      if (workers_[w].next == recording_.event_count(w)) continue;
      if (best == none || before(w, best)) best = w;
    }
    return best;
  }

  void replay(std::size_t w, recorded_event const& e) {
    row& worker = workers_[w];
    if (!worker.tasks.empty()) worker.tasks.back().elapsed += e.ns - worker.since;
    worker.since = e.ns;
    switch (e.what) {
      case event_kind::task_begin:
        worker.tasks.push_back({e.id, 0});
        break;
      case event_kind::task_end:
        if (worker.tasks.empty() || worker.tasks.back().id != e.id) break;  // it began before the recording
        add(e.id, worker.tasks.back().elapsed);
        worker.tasks.pop_back();
        break;
      case event_kind::park:
        parked_[e.id] = std::move(worker.tasks);
        worker.tasks.clear();
        break;
      case event_kind::resume:
        worker.tasks.clear();
        if (auto const found = parked_.find(e.id); found != parked_.end()) {
          worker.tasks = std::move(found->second);
          parked_.erase(found);
        }
        break;
      default:
        break;
    }
  }

  void add(void const* id, std::int64_t elapsed) {
    times& t = times_[id];
    elapsed = std::max<std::int64_t>(elapsed - empty_task(), 0);
    t.min_time = t.runs == 0 ? elapsed : std::min(t.min_time, elapsed);
    ++t.runs;
  }

  /// The measured time of an empty task. Measured once, so that a recording always gives the same program.
  static std::int64_t empty_task() {
    static std::int64_t const measured = measure_empty_task();
    return measured;
  }
  static std::int64_t measure_empty_task() {
    constexpr std::size_t count = 101;
    recorder scratch{2 * count};
    scratch.start(1);
    for (std::size_t i = 0; i < count; ++i) {
      scratch.task_begin(0, {});
      scratch.task_end(0, {});
    }
    std::array<std::int64_t, count> elapsed;
    for (std::size_t i = 0; i < count; ++i)
      elapsed[i] = scratch.event_at(0, 2 * i + 1).ns - scratch.event_at(0, 2 * i).ns;
    std::nth_element(elapsed.begin(), elapsed.begin() + count / 2, elapsed.end());
    return elapsed[count / 2];
  }

  recorder const& recording_;
  std::vector<row> workers_;
  std::unordered_map<void const*, std::vector<open_task>> parked_;
  std::unordered_map<void const*, times> times_;
};

/// Copies a graph, and those that it is composed of, into one.
class graph_copier {
 public:
  graph_copier(recorder const& recording, sim::recorded_program& to) : times_{recording}, to_{to} {}

  void copy(graph_data const& g) {
    to_.graph = true;
    to_.graph_runs = ~std::uint32_t{0};
    add_all(g);
  }

 private:
  /// A task's number in the copy; of a composed graph, the numbers of what stands before and after it.
  struct place {
    std::uint32_t entry = 0, exit = 0;
  };

  std::vector<place> add_all(graph_data const& g) {
    std::vector<place> places(g.nodes.size());
    for (node const* n : g.nodes) {
      if (n == nullptr) continue;
      place& p = places[n->index];
      p.entry = p.exit = add(g, *n);
      if (n->type().kind == task_kind::module) p.exit = add_inside(inner_of(g, n->index), p.entry);
    }
    for (edge const& e : g.edges) to_.edges.push_back({places[e.from()].exit, places[e.to].entry});
    return places;
  }

  std::uint32_t add(graph_data const& g, node const& n) {
    task_kind const kind = n.type().kind;
    if (kind == task_kind::condition || kind == task_kind::multi_condition) {
      throw graph_error{
          fmt::format("the graph has the condition {}: how often the tasks behind it run is not in the graph, so "
                      "it cannot be simulated. Fix it by recording the part between conditions, as a graph of its own.",
                      g.task_name(n.index))};
    }
    auto const found = times_.of(&n);
    if (found.runs == 0) {
      throw sim_error{
          fmt::format("{} is in the graph and not in the recording; fix it by a run of this graph on an executor "
                      "with heist::recorder as its observer, before record_graph and without changes after it",
                      g.task_name(n.index))};
    }
    to_.graph_runs = std::min(to_.graph_runs, found.runs);
    return add(static_cast<std::uint64_t>(found.min_time));
  }
  std::uint32_t add(std::uint64_t work) {
    sim::recorded_task& t = to_.tasks.emplace_back();
    t.work = {work};
    return static_cast<std::uint32_t>(to_.tasks.size() - 1);
  }

  /// Adds all of `inner` behind `entry`; returns the node added behind all of `inner`.
  std::uint32_t add_inside(graph_data const& inner, std::uint32_t entry) {
    auto const places = add_all(inner);
    std::uint32_t const exit = add(0);
    std::vector<bool> has_before(inner.nodes.size()), has_after(inner.nodes.size());
    for (edge const& e : inner.edges) has_after[e.from()] = has_before[e.to] = true;
    bool is_empty = true;
    for (node const* n : inner.nodes) {
      if (n == nullptr) continue;
      is_empty = false;
      if (!has_before[n->index]) to_.edges.push_back({entry, places[n->index].entry});
      if (!has_after[n->index]) to_.edges.push_back({places[n->index].exit, exit});
    }
    if (is_empty) to_.edges.push_back({entry, exit});
    return exit;
  }

  static graph_data const& inner_of(graph_data const& g, std::uint32_t index) {
    for (auto const& part : g.parts) {
      if (part.task == index) return *part.graph;
    }
    throw graph_error{"a composed graph has been erased; fix it by recording the graph before it is changed"};
  }

  task_times times_;
  sim::recorded_program& to_;
};

}  // namespace detail

inline sim::recorded_program record_graph(task_graph const& g, recorder const& recording) {
  detail::graph_data const* data = nullptr;
  g.for_each_task([&](task<> const& t) { data = detail::task_access::graph_of(t); });
  if (data == nullptr) throw graph_error{"the graph has no tasks, so there is nothing to simulate; add some"};
  sim::recorded_program result;
  result.name = g.name().empty() ? "task graph" : g.name();
  std::size_t const workers = recording.worker_count();
  result.recorded_on = fmt::format("{} worker{}", workers, workers == 1 ? "" : "s");
  detail::graph_copier{recording, result}.copy(*data);
  return result;
}

}  // namespace heist
