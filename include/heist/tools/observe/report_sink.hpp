// Collects from a recording what a report says of it. For the bodies of trace_report.hpp.
#pragma once

#include <algorithm>  // max, min, partial_sort, reverse, sort
#include <cstddef>    // ptrdiff_t, size_t
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <utility>  // move, pair
#include <vector>

#include "heist/tools/observe/recorder.hpp"
#include "heist/tools/observe/steal_branches.hpp"
#include "heist/tools/observe/task_edges.hpp"
#include "heist/tools/observe/timeline.hpp"
#include "heist/tools/observe/trace_summary.hpp"

namespace heist::detail {

/// Nanoseconds in a unit that fits.
std::string time_text(std::int64_t ns);
double percent_of(std::int64_t part, std::int64_t whole);
std::string passes_text(trace_summary const& s);
std::string one_more_text(trace_summary const& s);
/// The name of the program, `which` part of it, the machine, and the time now.
std::string recorded_here(std::string const& which);

class report_sink;
void write_page(std::ostream& out, report_sink const& seen, task_edges const* edges);

/// A stretch of time that a task has spent on a worker, outermost, for the picture.
struct slice_shape {
  std::int64_t begin, end;
  std::size_t task;
};

/// Collects what both forms of the report say.
class report_sink : public timeline_sink {
 public:
  report_sink(recorder const& recording, task_edges const* edges, std::vector<std::uint32_t> const& squad_of)
      : start_(recording.start_ns()),
        edges_(edges),
        branches_(recording.worker_count()),
        slices(recording.worker_count()),
        naps(recording.worker_count()) {
    std::size_t const workers = recording.worker_count();
    sum.workers.resize(workers);
    sum.steals.assign(workers, std::vector<std::size_t>(workers));
    for (std::size_t w = 0; w < workers; ++w) {
      if (w < squad_of.size()) sum.workers[w].squad = squad_of[w];
      sum.released += recording.released(w);
    }
    if (edges != nullptr) sum.released += edges->released();
    sum.elapsed_ns = timeline<recorder, report_sink>{recording, *this}.replay() - start_;
    sum.tasks = seen_.size();
    sum.steal_tree = branches_.all();
    choose_names();
    choose_longest();
    choose_path();
  }

  // Reports of the timeline.
  void begins(std::size_t w, open_task const& task) {
    ++sum.workers[w].tasks;
    ++branches_.of(w).tasks;
    seen& s = seen_.emplace_back();
    s.id = task.id;
    s.label = task.label();
    s.begin = s.end = task.since;
    s.worker = w;
    edges_.begins(task.id, {task.number, w, task.since}, *this);
    s.graph = edges_.graph_of(task.id);
    if (s.graph != none) s.pass = ++times_[{s.graph, task.id}];
  }
  void ends(std::size_t w, open_task const& task, std::int64_t ns) {
    edges_.ends(task.id, {task.number, w, ns}, *this);
    seen_[task.number].end = ns;
    seen_[task.number].worker = w;
  }
  void edge(edge_end const& before, edge_end const& after) { followed_.emplace_back(after.number, before.number); }
  void slice(std::size_t w, open_task const& task, std::int64_t until, char const* waits_for, std::size_t depth) {
    seen_[task.number].busy += until - task.since;
    seen_[task.number].end = std::max(seen_[task.number].end, until);
    if (waits_for != nullptr) ++sum.parks;
    if (depth != 0) return;
    sum.workers[w].busy_ns += until - task.since;
    branches_.of(w).busy_ns += until - task.since;
    slices[w].push_back({task.since - start_, until - start_, task.number});
  }
  void nap(std::size_t w, std::int64_t since, std::int64_t until) {
    ++sum.workers[w].sleeps;
    sum.workers[w].asleep_ns += until - since;
    branches_.end(w);
    naps[w].push_back({since - start_, until - start_, 0});
  }
  void resumes(std::size_t /*from*/, std::int64_t parked, std::size_t /*on*/, std::int64_t ns, char const* waits_for) {
    if (*waits_for != 0) add_to(waits_[waits_for], ns - parked);
  }
  void steal(std::size_t thief, std::size_t victim, std::int64_t /*ns*/) {
    if (victim >= sum.steals.size()) return;
    ++sum.steals[thief][victim];
    branches_.steal(thief, victim);
  }

  trace_summary::task task(std::size_t number) const {
    seen const& s = seen_[number];
    return {s.label, number, s.worker, s.begin - start_, s.end - start_, s.busy};
  }
  /// As observers name it.
  void const* id_of(std::size_t number) const noexcept { return seen_[number].id; }
  std::int64_t start_ns() const noexcept { return start_; }

 private:
  static constexpr std::size_t none = ~std::size_t{0};
  struct seen {
    void const* id = nullptr;
    char const* label = nullptr;
    std::size_t worker = 0;
    std::int64_t begin = 0, end = 0, busy = 0;
    std::size_t before = none;  ///< the predecessor with the longest chain
    std::int64_t chain = 0;     ///< the longest chain before it, and its own busy time
    std::size_t graph = none;   ///< the graph of the task; none: no graph
    std::size_t pass = 0;       ///< of that graph, counted from 1: that of the task before; how often it has begun
  };

  using by_name = std::map<std::string_view, trace_summary::name>;

  static void add_to(trace_summary::name& n, std::int64_t ns) {
    ++n.times;
    n.busy_ns += ns;
    n.longest_ns = std::max(n.longest_ns, ns);
  }

  /// Ten of them.
  static std::vector<trace_summary::name> longest_of(by_name& all) {
    std::vector<trace_summary::name> names;
    for (auto& [label, n] : all) {
      n.name = label;
      names.push_back(std::move(n));
    }
    std::sort(names.begin(), names.end(), [](auto const& a, auto const& b) {
      return a.busy_ns != b.busy_ns ? a.busy_ns > b.busy_ns : a.name < b.name;
    });
    if (names.size() > 10) names.resize(10);
    return names;
  }

  void choose_names() {
    by_name all;
    for (seen const& s : seen_) add_to(all[s.label], s.busy);
    sum.names = longest_of(all);
    sum.waits = longest_of(waits_);
  }

  void choose_longest() {
    std::vector<std::size_t> order(seen_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::size_t const count = std::min<std::size_t>(10, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), order.end(),
                      [this](std::size_t a, std::size_t b) {
                        return seen_[a].busy != seen_[b].busy ? seen_[a].busy > seen_[b].busy : a < b;
                      });
    for (std::size_t i = 0; i < count; ++i) sum.longest.push_back(task(order[i]));
  }

  void choose_path() {
    std::size_t last = none;
    std::sort(followed_.begin(), followed_.end());
    auto edge = followed_.begin();
    for (std::size_t i = 0; i < seen_.size(); ++i) {
      seen& s = seen_[i];
      // One that begins later has a larger number, so the chains before it are known.
      for (; edge != followed_.end() && edge->first == i; ++edge) {
        if (s.before == none || seen_[edge->second].chain > seen_[s.before].chain) s.before = edge->second;
      }
      s.chain = s.busy + (s.before == none ? 0 : seen_[s.before].chain);
      if (s.before != none) s.pass = seen_[s.before].pass;
      if (s.graph != none && (last == none || s.chain > seen_[last].chain)) last = i;
    }
    if (last == none) return;
    sum.critical_ns = seen_[last].chain;
    sum_passes(seen_[last].graph);
    for (; last != none; last = seen_[last].before) sum.critical_path.push_back(task(last));
    std::reverse(sum.critical_path.begin(), sum.critical_path.end());
  }

  void sum_passes(std::size_t graph) {
    std::map<std::size_t, std::int64_t> longest;  // by pass
    for (seen const& s : seen_) {
      if (s.graph != graph) continue;
      sum.critical_work_ns += s.busy;
      longest[s.pass] = std::max(longest[s.pass], s.chain);
    }
    sum.critical_passes = longest.size();
    for (auto const& [pass, ns] : longest) sum.critical_all_ns += ns;
  }

  std::int64_t start_;
  std::map<std::pair<std::size_t, void const*>, std::size_t> times_;  ///< how often a task of a graph has begun
  by_name waits_;
  followed_edges edges_;
  steal_branches branches_;
  std::vector<seen> seen_;
  std::vector<std::pair<std::size_t, std::size_t>> followed_;  ///< edges: the number of a task, and of one before it

 public:
  trace_summary sum;
  std::vector<std::vector<slice_shape>> slices, naps;  ///< by worker, in the order of time
};

}  // namespace heist::detail
