// How a graph is built and changed. Bodies of graph_data.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <new>
#include <string>
#include <utility>  // forward

#include "heist/graph/graph_data.hpp"

namespace heist::detail {

inline void graph_data::about_to_change(char const* what) {
  // acquire: a change after a run comes after all of it
  if (running.load(std::memory_order_acquire)) [[unlikely]] {
    throw graph_error{fmt::format("cannot {} while the graph runs; mend it by waiting for the run first.", what)};
  }
  laid_out = false;
}

inline std::uint32_t graph_data::add_node_slot() {
  about_to_change("add a task");
  if (nodes.size() >= edge::value_bit) {
    throw graph_error{"a graph holds at most 2^31 tasks; mend it by splitting it and composing the parts."};
  }
  nodes.push_back(nullptr);
  ++erased;
  return static_cast<std::uint32_t>(nodes.size() - 1);
}

template <class Node, class... Args>
Node& graph_data::make_node(std::uint32_t index, Args&&... args) {
  void* const at = memory.allocate(sizeof(Node), alignof(Node));
  auto* const made = ::new (at) Node(index, std::forward<Args>(args)...);
  if (nodes[index] == nullptr) --erased;
  nodes[index] = made;
  return *made;
}

inline void graph_data::add_edge(std::uint32_t from, std::uint32_t to, bool carries_value) {
  about_to_change("add an edge");
  edges.push_back({from | (carries_value ? edge::value_bit : 0), to});
}

inline void graph_data::erase_edges(std::uint32_t from, std::uint32_t to) {
  about_to_change("erase an edge");
  for (edge const& e : edges) {
    if (e.from() == from && e.to == to && e.carries_value()) {
      throw graph_error{
          fmt::format("the edge {} -> {} carries a value that {} takes as an argument; mend it by erasing the "
                      "task that takes it.",
                      task_name(from), task_name(to), task_name(to))};
    }
  }
  std::erase_if(edges, [&](edge const& e) { return e.from() == from && e.to == to; });
}

inline void graph_data::erase_node(std::uint32_t index) {
  about_to_change("erase a task");
  for (edge const& e : edges) {
    if (e.from() == index && e.carries_value()) {
      throw graph_error{
          fmt::format("{} takes the value of {}, which therefore cannot be erased; mend it by erasing {} first.",
                      task_name(e.to), task_name(index), task_name(e.to))};
    }
  }
  std::erase_if(edges, [&](edge const& e) { return e.from() == index || e.to == index; });
  names.erase(index);
  std::erase_if(parts, [&](part const& p) { return p.task == index; });
  nodes[index]->type().destroy(*nodes[index]);
  nodes[index] = nullptr;
  ++erased;
}

inline void graph_data::destroy_nodes() noexcept {
  for (node* n : nodes) {
    if (n != nullptr) n->type().destroy(*n);
  }
}

inline void graph_data::clear() {
  about_to_change("clear it");
  destroy_nodes();
  nodes.clear();
  edges.clear();
  names.clear();
  limits.clear();
  parts.clear();
  sources.clear();
  owned_records.reset();
  owned_counters.reset();
  owned_successors.reset();
  memory.clear();
  erased = record_count = 0;
  ++generation;
}

inline std::string graph_data::task_name(std::uint32_t index) const {
  auto const found = names.find(index);
  return found != names.end() ? found->second : fmt::format("#{}", index);
}

}  // namespace heist::detail
