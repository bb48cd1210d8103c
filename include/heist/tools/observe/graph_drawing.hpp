// The graph of a recording that the critical path goes through, drawn. For the bodies of trace_report.hpp.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>  // pair
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/tools/observe/report_sink.hpp"
#include "heist/tools/observe/task_edges.hpp"

namespace heist::detail {

/// `text` with what HTML and SVG give a meaning escaped.
std::string html_text(std::string_view text);

/// Tasks from left to right, each right of those that it waits for, with their names and how long they were busy on
/// average. The critical path is red. A graph of more than `most_tasks` tasks is not drawn, but a sentence.
class graph_drawing {
 public:
  static constexpr std::size_t most_tasks = 150;
  static constexpr std::size_t most_edges = 1500;

  graph_drawing(report_sink const& seen, task_edges const& edges);
  /// Empty without a critical path.
  std::string html();

 private:
  struct box {
    std::string name;
    std::size_t runs = 0;
    std::int64_t busy_ns = 0;
    std::size_t column = 0, row = 0;
    bool is_critical = false;
  };
  using edge = std::pair<std::size_t, std::size_t>;

  static constexpr double width = 150, height = 34, gap = 60, line = 46;

  task_edges::layout const* find_graph() const;
  void collect(task_edges::layout const& graph);
  void place();
  std::size_t place_in_columns();
  void draw_edge(edge const& e);
  void draw_box(box const& b);

  report_sink const& seen_;
  task_edges const& edges_;
  std::int64_t until_ = 0;  ///< from here on the tasks' names are another graph's
  std::vector<box> boxes_;
  std::vector<edge> between_;
  std::unordered_map<void const*, std::size_t> box_of_;
  std::set<edge> critical_;
  std::string text_;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/tools/observe/graph_drawing.ipp"
#endif
