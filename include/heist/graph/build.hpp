// How a graph is built and changed. Bodies of graph_data.
#pragma once

#include <atomic>   // memory_order_acquire
#include <cstddef>  // size_t
#include <cstdint>
#include <new>
#include <utility>  // forward

#include "heist/core/base/config.hpp"
#include "heist/core/base/vector.hpp"
#include "heist/graph/graph_data.hpp"

namespace heist::detail {

/// Throws if `g` is among the graphs that `part` runs, at any depth. Only a graph that is part of another can be.
void reject_containing_itself(graph_data const& g, graph_data const& part);

/// Room for `more`, growing as push_back does.
template <class T>
void make_room(vector<T>& v, std::size_t more) {
  if (v.capacity() - v.size() < more) v.reserve(more > v.size() ? v.size() + more : 2 * v.size());
}

[[noreturn]] HEIST_RARE void reject_change(char const* what);
[[noreturn]] HEIST_RARE void reject_change_of_history(char const* what);
[[noreturn]] HEIST_RARE void reject_more_tasks();

inline void graph_data::reject_while_running(char const* what) const {
  if (is_running()) [[unlikely]]
    reject_change(what);
}

inline void graph_data::about_to_change(char const* what) {
  if (is_running()) [[unlikely]]
    return change_between_passes(what);
  layout_valid = false;
}

inline std::uint32_t graph_data::free_index() {
  while (!free_indices.empty()) {
    std::uint32_t const i = free_indices.back();
    if (i < nodes.size() && nodes[i] == nullptr) return i;
    free_indices.pop_back();
  }
  if (nodes.size() >= edge::value_bit) [[unlikely]]
    reject_more_tasks();
  make_room(nodes, 1);
  if (counts != nullptr) make_room(counts->in, 1), make_room(counts->out, 1);
  return static_cast<std::uint32_t>(nodes.size());
}

inline void graph_data::add_edge(std::uint32_t from, std::uint32_t to, bool is_value_edge) {
  about_to_change("add an edge");
  edges.push_back({from | (is_value_edge ? edge::value_bit : 0), to});
  if (counts != nullptr) ++counts->out[from], ++counts->in[to];
}

template <class Node, class... Args>
Node& graph_data::add_node(std::size_t expected_edges, Args&&... args) {
  about_to_change("add a task");
  void* const at = memory.allocate(sizeof(Node), alignof(Node));
  Node* made = nullptr;
  try {
    made = ::new (at) Node(std::forward<Args>(args)...);
    make_room(edges, expected_edges);
    made->index = free_index();
  } catch (...) {
    made != nullptr ? destroy(made) : memory.give_back(at, sizeof(Node), alignof(Node));
    throw;
  }
  indices_reused = indices_reused || births != made->index;
  if constexpr (Node::kind == task_kind::condition || Node::kind == task_kind::multi_condition) has_conditions = true;
  made->created = births++;
  if (made->index == nodes.size()) {
    nodes.push_back(made);
    if (counts != nullptr) counts->in.push_back(0), counts->out.push_back(0);
  } else {
    free_indices.pop_back();
    nodes[made->index] = made;
    --erased;
  }
  return *made;
}

template <class Node, class... Args>
void graph_data::replace_node(std::uint32_t index, Args&&... args) {
  void* const at = memory.allocate(sizeof(Node), alignof(Node));
  Node* made = nullptr;
  try {
    made = ::new (at) Node(std::forward<Args>(args)...);
  } catch (...) {
    memory.give_back(at, sizeof(Node), alignof(Node));
    throw;
  }
  node* const old = nodes[index];
  made->index = index;
  made->limits = old->limits;
  made->created = old->created;
  nodes[index] = made;
  destroy(old);
}

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/graph/build.ipp"
#endif
