// Pictures of graphs, in the DOT language.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "heist/compat/taskflow/taskflow/core/graph.hpp"

namespace tf::detail {

class dot_writer {
 public:
  explicit dot_writer(std::ostream& out) noexcept : out_{out} {}

  void write(Graph const& graph, std::string const& name) {
    out_ << "digraph Taskflow {\n  compound=true;\n";
    box(graph, name.empty() ? "Taskflow" : "Taskflow: " + name);
    for (std::size_t i = 0; i != modules_.size(); ++i) {  // grows meanwhile
      auto const [inner, title] = modules_[i];
      box(*inner, title);
    }
    out_ << "}\n";
  }

 private:
  struct module {
    Graph const* graph;
    std::string title;
  };

  static std::string title_of(node const& n) {
    if (!n.name().empty()) return n.name();
    std::string text = "p";
    return text += std::to_string(reinterpret_cast<std::uintptr_t>(&n));
  }
  void box(Graph const& graph, std::string const& title) {
    out_ << "  subgraph cluster_p" << &graph << " {\n    label=\"" << title << "\";\n";
    for (node const* n : graph) task(*n);
    out_ << "  }\n";
  }
  void task(node const& n) {
    out_ << "    p" << &n << " [label=\"" << title_of(n) << '"';
    if (n.is_condition()) out_ << " shape=diamond";
    if (n.type == TaskType::MODULE) out_ << " shape=box3d";
    out_ << "];\n";
    std::size_t which = 0;
    for (node const* to : n.successors) {
      out_ << "    p" << &n << " -> p" << to;
      if (n.is_condition()) out_ << " [style=dashed label=\"" << which++ << "\"]";
      out_ << ";\n";
    }
    Graph const* const inner = const_cast<node&>(n).does.graph();
    if (inner == nullptr || inner->empty()) return;
    if (n.type == TaskType::SUBFLOW) {
      box(*inner, "Subflow: " + title_of(n));
    } else if (!seen(*inner)) {
      modules_.push_back({inner, "Module: " + title_of(n)});
    }
  }
  bool seen(Graph const& graph) const {
    for (module const& m : modules_) {
      if (m.graph == &graph) return true;
    }
    return false;
  }

  std::ostream& out_;
  std::vector<module> modules_;
};

}  // namespace tf::detail
