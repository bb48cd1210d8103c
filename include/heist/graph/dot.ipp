// Bodies of dot.hpp, and the picture of a graph.
#pragma once

#include "heist/graph/dot.hpp"

#include <ostream>

#include "heist/core/base/number_map.hpp"

namespace heist::detail {

HEIST_COLD_BODY std::string dot_quoted(std::string_view text) {
  std::string quoted = "\"";
  for (char const c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '\n') {
      quoted += "\\n";
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

HEIST_COLD_BODY char const* dot_style(task_kind kind) noexcept {
  switch (kind) {
    case task_kind::condition:
      return ", shape=diamond";
    case task_kind::multi_condition:
      return ", shape=diamond, peripheries=2";
    case task_kind::event:
      return ", shape=cds";
    case task_kind::module:
      return ", shape=box3d";
    default:
      return "";
  }
}

}  // namespace heist::detail

namespace heist {

HEIST_COLD_BODY void task_graph::dot(std::ostream& out) const {
  detail::graph_data const& g = data();
  out << "digraph " << detail::dot_quoted(g.title.empty() ? "task graph" : g.title)
      << " {\n  rankdir=LR;\n  node [shape=box, style=rounded];\n";
  for (detail::node const* n : g.nodes) {
    if (n == nullptr) continue;
    out << "  n" << n->index << " [label=" << detail::dot_quoted(g.task_name(n->index))
        << detail::dot_style(n->type().kind) << "];\n";
  }
  detail::number_map numbers;
  for (detail::edge const& e : g.edges) {
    out << "  n" << e.from() << " -> n" << e.to;
    task_kind const kind = g.nodes[e.from()]->type().kind;
    if (kind == task_kind::condition || kind == task_kind::multi_condition) {
      out << " [style=dashed, label=" << numbers[e.from()]++ << ']';
    } else if (e.is_value_edge()) {
      out << " [style=bold]";
    }
    out << ";\n";
  }
  out << "}\n";
}

}  // namespace heist
