// Taskflows: named graphs that executors run.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>  // shared_ptr
#include <mutex>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>  // forward, move

#include "heist/compat/taskflow/taskflow/core/dot.hpp"
#include "heist/compat/taskflow/taskflow/core/flow_builder.hpp"
#include "heist/compat/taskflow/taskflow/core/topology.hpp"

namespace tf {

/// Threads: one at a time. It must stay where it is, and as it is, while it runs.
class Taskflow : public FlowBuilder {
 public:
  Taskflow() : FlowBuilder{graph_} {}
  explicit Taskflow(std::string name) : FlowBuilder{graph_}, name_{std::move(name)} {}
  Taskflow(Taskflow&& other) : FlowBuilder{graph_} { *this = std::move(other); }
  Taskflow& operator=(Taskflow&& other) {
    if (this == &other) return *this;
    std::scoped_lock const guard{lock_, other.lock_};
    name_ = std::move(other.name_);
    graph_ = std::move(other.graph_);
    runs_ = std::move(other.runs_);
    return *this;
  }

  std::size_t num_tasks() const noexcept { return graph_.size(); }
  bool empty() const noexcept { return graph_.empty(); }
  void clear() { graph_.clear(); }
  std::string const& name() const noexcept { return name_; }
  void name(std::string const& text) { name_ = text; }
  Graph& graph() noexcept { return graph_; }
  template <class V>
  void for_each_task(V&& visit) const {
    for (detail::node* n : graph_) visit(Task{n});
  }
  void remove_dependency(Task from, Task to) { from.remove_successors(to); }

  /// Writes the graph in the DOT language, with its modules and retained subflows.
  void dump(std::ostream& out) const { detail::dot_writer{out}.write(graph_, name_); }
  std::string dump() const {
    std::ostringstream out;
    dump(out);
    return out.str();
  }

  // For the code of the layer: runs of one taskflow go one after the other.
  /// True if the run may begin now.
  bool enter(std::shared_ptr<Topology> run) {
    std::lock_guard const guard{lock_};
    runs_.push_back(std::move(run));
    return runs_.size() == 1;
  }
  /// Takes out the run that has ended. Returns it, and the one that may begin.
  std::pair<std::shared_ptr<Topology>, Topology*> leave() {
    std::lock_guard const guard{lock_};
    std::shared_ptr<Topology> ended = std::move(runs_.front());
    runs_.pop_front();
    return {std::move(ended), runs_.empty() ? nullptr : runs_.front().get()};
  }

 private:
  std::mutex lock_;
  std::string name_;
  Graph graph_;
  std::deque<std::shared_ptr<Topology>> runs_;
};

}  // namespace tf
