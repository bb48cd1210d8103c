// The tasks of a taskflow, a subflow or a pipeline.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>  // destroy_at
#include <new>
#include <utility>  // exchange, move
#include <vector>

#include "heist/compat/taskflow/taskflow/core/node_memory.hpp"

namespace tf {

/// Owns tasks. Threads: one at a time, and none while it runs.
class Graph {
 public:
  Graph() = default;
  Graph(Graph&& other) noexcept { *this = std::move(other); }
  Graph& operator=(Graph&& other) noexcept {
    if (this != &other) {
      clear();
      nodes_ = std::exchange(other.nodes_, {});
      memory_ = std::move(other.memory_);
    }
    return *this;
  }
  ~Graph() { clear(); }

  void clear() noexcept {
    for (detail::node* n : nodes_) std::destroy_at(n);
    nodes_.clear();
    memory_.clear();
  }
  std::size_t size() const noexcept { return nodes_.size(); }
  bool empty() const noexcept { return nodes_.empty(); }
  auto begin() noexcept { return nodes_.begin(); }
  auto end() noexcept { return nodes_.end(); }
  auto begin() const noexcept { return nodes_.begin(); }
  auto end() const noexcept { return nodes_.end(); }

  // For the code of the layer.
  detail::node& add(TaskType type) {
    nodes_.push_back(nullptr);
    return *(nodes_.back() = ::new (memory_.take()) detail::node{type});
  }
  void erase(detail::node& n) {
    while (!n.successors.empty()) n.disconnect(*n.successors.back());
    while (!n.predecessors.empty()) n.predecessors.back()->disconnect(n);
    if (std::erase(nodes_, &n) != 0) std::destroy_at(&n);
  }

 private:
  std::vector<detail::node*> nodes_;
  detail::node_memory memory_;  // the places of erased tasks are free after clear()
};

template <class T>
concept GraphLike = std::derived_from<T, Graph> || requires(T& t) {
  { t.graph() } -> std::convertible_to<Graph&>;
};

template <GraphLike T>
Graph& retrieve_graph(T& target) {
  if constexpr (requires { target.graph(); }) {
    return target.graph();
  } else {
    return target;
  }
}

}  // namespace tf
