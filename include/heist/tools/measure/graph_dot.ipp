// Bodies of graph_dot.hpp.
#pragma once

#include "heist/tools/measure/graph_dot.hpp"

#include <fmt/core.h>

#include <cstddef>  // size_t
#include <cstdint>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>  // move, pair
#include <vector>

#include "heist/graph/access.hpp"
#include "heist/graph/dot.hpp"
#include "heist/tools/observe/timeline.hpp"

namespace heist::detail {

/// How long each task of a recording was busy, and how often it ran.
struct busy_times : timeline_sink {
  struct times {
    std::int64_t ns = 0;
    std::size_t runs = 0;
  };
  std::unordered_map<void const*, times> of;

  void begins(std::size_t /*worker*/, open_task const& task) { ++of[task.id].runs; }
  void slice(std::size_t /*worker*/, open_task const& task, std::int64_t until, char const* /*waits_for*/,
             std::size_t /*depth*/) {
    of[task.id].ns += until - task.since;
  }
};

/// All tasks of a graph and of those that it is composed of, in one list.
class measured_dot {
 public:
  explicit measured_dot(recorder const& recording) { timeline<recorder, busy_times>{recording, times_}.replay(); }

  void write(std::ostream& out, task_graph const& g) {
    text_ = fmt::format("digraph {} {{\n  rankdir=LR;\n  node [shape=box, style=rounded];\n",
                        dot_quoted(g.name().empty() ? "task graph" : g.name()));
    graph_data const* data = nullptr;
    g.for_each_task([&](task<> const& t) { data = detail::task_access::graph_of(t); });
    if (data != nullptr) add_all(*data, 1);
    find_path();
    for (auto const& e : edges_) write(e);
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (tasks_[i].is_critical) text_ += fmt::format("  n{} [color=red, penwidth=2];\n", i);
    }
    out << text_ << "}\n";
  }

 private:
  struct place {
    std::int64_t ns = 0;
    bool is_critical = false;
  };
  /// Of a composed graph: the tasks behind which, and before which, its neighbours stand.
  struct part {
    std::size_t entry = 0;
    std::vector<std::size_t> exits;
  };
  struct edge_shape {
    std::size_t from, to;
    std::string how;
  };

  static std::string time(std::int64_t ns) {
    auto const value = static_cast<double>(ns);
    if (ns < 1'000) return fmt::format("{} ns", ns);
    if (ns < 1'000'000) return fmt::format("{:.3g} us", value / 1e3);
    return fmt::format("{:.4g} ms", value / 1e6);
  }

  std::string label(graph_data const& g, node const& n, busy_times::times const& seen) const {
    std::string text = g.task_name(n.index);
    if (seen.runs == 0) {
      text += "\nnot run";
    } else {
      std::int64_t const mean = seen.ns / static_cast<std::int64_t>(seen.runs);
      text += seen.runs == 1 ? "\n" + time(mean) : fmt::format("\n{} x {}", seen.runs, time(mean));
    }
    if (n.limits != 0) {
      for (limited_task::amount const& a : g.limits[n.limits - 1]->acquires)
        text += fmt::format("\nlimit {} of {}", a.count, a.from->max());
    }
    return dot_quoted(text);
  }

  std::vector<part> add_all(graph_data const& g, std::size_t depth) {
    std::string const margin(2 * depth, ' ');
    std::vector<part> parts(g.nodes.size());
    for (node const* n : g.nodes) {
      if (n == nullptr) continue;
      part& p = parts[n->index];
      p.entry = tasks_.size();
      p.exits = {p.entry};
      busy_times::times const seen = times_.of[n];
      tasks_.push_back({seen.ns, false});
      graph_data const* const inner = n->type().kind == task_kind::module ? inner_of(g, n->index) : nullptr;
      if (inner != nullptr)
        text_ += fmt::format("{}subgraph cluster_{} {{\n{}  style=rounded;\n", margin, p.entry, margin);
      text_ += fmt::format("{}n{} [label={}{}];\n", inner != nullptr ? margin + "  " : margin, p.entry,
                           label(g, *n, seen), dot_style(n->type().kind));
      if (inner == nullptr) continue;
      add_inside(*inner, p, depth + 1);
      text_ += margin + "}\n";
    }
    std::unordered_map<std::uint32_t, int> numbers;
    for (edge const& e : g.edges) {
      task_kind const kind = g.nodes[e.from()]->type().kind;
      std::string how = e.is_value_edge() ? "style=bold" : "";
      if (kind == task_kind::condition || kind == task_kind::multi_condition) {
        has_conditions_ = true;
        how = fmt::format("style=dashed, label={}", numbers[e.from()]++);
      }
      for (std::size_t const from : parts[e.from()].exits) edges_.push_back({from, parts[e.to].entry, how});
    }
    return parts;
  }

  /// All of `inner` behind `p`'s entry.
  void add_inside(graph_data const& inner, part& p, std::size_t depth) {
    auto const parts = add_all(inner, depth);
    std::vector<bool> has_before(inner.nodes.size()), has_after(inner.nodes.size());
    for (edge const& e : inner.edges) has_after[e.from()] = has_before[e.to] = true;
    std::vector<std::size_t> exits;
    for (node const* n : inner.nodes) {
      if (n == nullptr) continue;
      if (!has_before[n->index]) edges_.push_back({p.entry, parts[n->index].entry, "style=dotted"});
      if (has_after[n->index]) continue;
      exits.insert(exits.end(), parts[n->index].exits.begin(), parts[n->index].exits.end());
    }
    if (!exits.empty()) p.exits = std::move(exits);
  }

  static graph_data const* inner_of(graph_data const& g, std::uint32_t index) {
    for (auto const& part : g.parts) {
      if (part.task == index) return &*part.graph;
    }
    return nullptr;
  }

  /// Marks the path that was busy longest, if there are no loops.
  void find_path() {
    if (has_conditions_ || tasks_.empty()) return;
    std::vector<std::vector<std::size_t>> after(tasks_.size());
    std::vector<std::size_t> missing(tasks_.size(), 0), before(tasks_.size(), tasks_.size()), ready;
    for (edge_shape const& e : edges_) {
      after[e.from].push_back(e.to);
      ++missing[e.to];
    }
    std::vector<std::int64_t> start_time(tasks_.size(), 0);  // the longest time of the predecessors
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (missing[i] == 0) ready.push_back(i);
    }
    std::size_t last = ready.empty() ? tasks_.size() : ready.front();
    for (std::size_t next = 0; next < ready.size(); ++next) {
      std::size_t const i = ready[next];
      std::int64_t const until = start_time[i] + tasks_[i].ns;
      if (until >= start_time[last] + tasks_[last].ns) last = i;
      for (std::size_t const j : after[i]) {
        if (before[j] == tasks_.size() || until > start_time[j]) {
          start_time[j] = until;
          before[j] = i;
        }
        if (--missing[j] == 0) ready.push_back(j);
      }
    }
    for (; last != tasks_.size(); last = before[last]) {
      tasks_[last].is_critical = true;
      if (before[last] != tasks_.size()) red_.emplace(before[last], last);
    }
  }

  void write(edge_shape const& e) {
    std::string how = e.how;
    if (red_.count({e.from, e.to}) != 0) how += how.empty() ? "color=red" : ", color=red";
    text_ += fmt::format("  n{} -> n{}{};\n", e.from, e.to, how.empty() ? "" : " [" + how + "]");
  }

  busy_times times_;
  std::string text_;
  std::vector<place> tasks_;
  std::vector<edge_shape> edges_;
  std::set<std::pair<std::size_t, std::size_t>> red_;
  bool has_conditions_ = false;
};

}  // namespace heist::detail

namespace heist {

HEIST_COLD_BODY void write_dot(std::ostream& out, task_graph const& g, recorder const& recording) {
  detail::measured_dot{recording}.write(out, g);
}

}  // namespace heist
