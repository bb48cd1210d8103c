// Bodies of graph_drawing.hpp.
#pragma once

#include "heist/tools/observe/graph_drawing.hpp"

#include <fmt/core.h>

#include <algorithm>  // find, max, min, stable_sort
#include <limits>

namespace heist::detail {

HEIST_COLD_BODY graph_drawing::graph_drawing(report_sink const& seen, task_edges const& edges)
    : seen_{seen}, edges_{edges} {}

HEIST_COLD_BODY std::string graph_drawing::html() {
  task_edges::layout const* const graph = find_graph();
  if (graph == nullptr) return {};
  if (graph->tasks.size() > most_tasks || graph->edges.size() > most_edges)
    return fmt::format(
        "<p>The graph has {} tasks and {} edges, too many to draw here: heist::write_dot draws it.</p>\n",
        graph->tasks.size(), graph->edges.size());
  collect(*graph);
  std::size_t const columns = place_in_columns();
  place();
  std::size_t rows = 0;
  for (box const& b : boxes_) rows = std::max(rows, b.row + 1);
  double const whole = static_cast<double>(columns) * (width + gap) - gap + 12;
  text_ =
      fmt::format(R"(<div class="graph"><svg style="width:{0}px" viewBox="0 0 {0} {1}" role="img" aria-label="graph">)",
                  whole, static_cast<double>(rows) * line + 4);
  for (edge const& e : between_) draw_edge(e);
  for (box const& b : boxes_) draw_box(b);
  return text_ + "</svg></div>\n<p>Red: the critical path. Times are means over the runs.</p>\n";
}

/// The last one that has a task of the critical path's end, and was ready when that began.
HEIST_COLD_BODY task_edges::layout const* graph_drawing::find_graph() const {
  auto const& path = seen_.sum.critical_path;
  if (path.empty()) return nullptr;
  void const* const last = seen_.id_of(path.back().number);
  task_edges::layout const* found = nullptr;
  for (task_edges::layout const& graph : edges_.layout_count()) {
    if (graph.ns - seen_.start_ns() > path.back().begin_ns) break;
    if (std::find(graph.tasks.begin(), graph.tasks.end(), last) != graph.tasks.end()) found = &graph;
  }
  return found;
}

HEIST_COLD_BODY void graph_drawing::collect(task_edges::layout const& graph) {
  for (void const* const task : graph.tasks) {
    box_of_.emplace(task, boxes_.size());
    boxes_.emplace_back();
  }
  for (auto const& [from, to] : graph.edges) {
    auto const a = box_of_.find(from), b = box_of_.find(to);
    if (a != box_of_.end() && b != box_of_.end()) between_.emplace_back(a->second, b->second);
  }
  until_ = std::numeric_limits<std::int64_t>::max();
  for (task_edges::layout const& later : edges_.layout_count()) {
    if (later.ns <= graph.ns || later.ns >= until_) continue;
    for (void const* const task : later.tasks)
      if (box_of_.count(task) != 0) until_ = later.ns;
  }
  std::int64_t const from = graph.ns - seen_.start_ns(), to = until_ - seen_.start_ns();
  for (std::size_t i = 0; i < seen_.sum.tasks; ++i) {
    auto const at = box_of_.find(seen_.id_of(i));
    if (at == box_of_.end()) continue;
    trace_summary::task const t = seen_.task(i);
    if (t.begin_ns < from || t.begin_ns >= to) continue;
    box& b = boxes_[at->second];
    b.name = t.name;
    b.busy_ns += t.busy_ns;
    ++b.runs;
  }
  auto before = box_of_.end();
  for (auto const& t : seen_.sum.critical_path) {
    auto const at = box_of_.find(seen_.id_of(t.number));
    if (at != box_of_.end()) boxes_[at->second].is_critical = true;
    if (at != box_of_.end() && before != box_of_.end()) critical_.emplace(before->second, at->second);
    before = at;
  }
}

/// Places each task behind its predecessors; in a loop, behind the predecessors that are already placed. Returns the
/// number of columns.
HEIST_COLD_BODY std::size_t graph_drawing::place_in_columns() {
  std::vector<std::size_t> missing(boxes_.size(), 0), ready;
  std::vector<std::vector<std::size_t>> after(boxes_.size());
  std::vector<bool> stands(boxes_.size(), false);
  for (auto const& [from, to] : between_) {
    after[from].push_back(to);
    ++missing[to];
  }
  std::size_t columns = 0, first = 0, next = 0;
  auto const put = [&](std::size_t i) {
    stands[i] = true;
    ready.push_back(i);
  };
  for (std::size_t i = 0; i < boxes_.size(); ++i)
    if (missing[i] == 0) put(i);
  for (; next < boxes_.size(); ++next) {
    if (next == ready.size()) {  // a loop
      while (stands[first]) ++first;
      put(first);
    }
    std::size_t const i = ready[next];
    columns = std::max(columns, boxes_[i].column + 1);
    for (std::size_t const j : after[i]) {
      if (stands[j]) continue;
      boxes_[j].column = std::max(boxes_[j].column, boxes_[i].column + 1);
      if (--missing[j] == 0) put(j);
    }
  }
  return columns;
}

/// In each column, in the order of the rows that its tasks' predecessors stand in.
HEIST_COLD_BODY void graph_drawing::place() {
  std::vector<std::vector<std::size_t>> columns;
  for (std::size_t i = 0; i < boxes_.size(); ++i) {
    if (columns.size() <= boxes_[i].column) columns.resize(boxes_[i].column + 1);
    columns[boxes_[i].column].push_back(i);
  }
  std::vector<double> wanted(boxes_.size(), 0);
  std::vector<double> before(boxes_.size(), 0);
  for (auto& column : columns) {
    std::stable_sort(column.begin(), column.end(), [&](std::size_t a, std::size_t b) {
      return wanted[a] / std::max(before[a], 1.0) < wanted[b] / std::max(before[b], 1.0);
    });
    for (std::size_t i = 0; i < column.size(); ++i) boxes_[column[i]].row = i;
    for (auto const& [from, to] : between_) {
      if (boxes_[from].column != boxes_[column.front()].column) continue;
      wanted[to] += static_cast<double>(boxes_[from].row);
      ++before[to];
    }
  }
}

HEIST_COLD_BODY void graph_drawing::draw_edge(edge const& e) {
  box const &a = boxes_[e.first], &b = boxes_[e.second];
  double const x = 6 + static_cast<double>(a.column) * (width + gap) + width;
  double const y = static_cast<double>(a.row) * line + height / 2 + 2;
  double const to_x = 6 + static_cast<double>(b.column) * (width + gap);
  double const to_y = static_cast<double>(b.row) * line + height / 2 + 2;
  text_ += fmt::format(R"(<path class="{}" d="M{} {}C{} {} {} {} {} {}"/>)",
                       critical_.count(e) != 0 ? "edge critical" : "edge", x, y, x + gap / 2, y, to_x - gap / 2, to_y,
                       to_x, to_y);
}

HEIST_COLD_BODY void graph_drawing::draw_box(box const& b) {
  double const x = 6 + static_cast<double>(b.column) * (width + gap), y = static_cast<double>(b.row) * line + 2;
  std::string const name = b.name.empty() ? "(not run)" : b.name;
  std::size_t visible = std::min<std::size_t>(name.size(), 20);
  while (visible != name.size() && visible != 0 && (static_cast<unsigned char>(name[visible]) & 0xc0u) == 0x80u)
    --visible;
  std::string const time =
      b.runs == 0 ? "" : time_text(b.busy_ns / static_cast<std::int64_t>(b.runs)) + fmt::format(" x {}", b.runs);
  text_ += fmt::format(
      "<g><title>{}: {}</title><rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"5\"/>"
      "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>"
      "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text></g>\n",
      html_text(name), time, b.is_critical ? "box critical" : "box", x, y, width, height, x + width / 2, y + 14,
      html_text(name.substr(0, visible)) + (visible == name.size() ? "" : "..."), x + width / 2, y + 28, time);
}

}  // namespace heist::detail
