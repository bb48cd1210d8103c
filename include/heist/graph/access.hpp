// What heist's own code reads of tasks, graphs and their memories, whose members are private.
#pragma once

#include <cstdint>
#include <utility>  // forward

#include "heist/fwd.hpp"

namespace heist::detail {

struct graph_data;

struct task_access {
  template <class Task>
  static graph_data* graph_of(Task const& t) noexcept {
    return t.graph_;
  }
  template <class Task>
  static std::uint32_t index_of(Task const& t) noexcept {
    return t.index_;
  }
  template <class Task>
  static std::uint32_t created_of(Task const& t) noexcept {
    return t.created_;
  }
  /// The slot of its value.
  template <class Task>
  static auto const& value_of(Task const& t) {
    return t.value();
  }
};

struct task_graph_access {
  template <class Graph>
  static graph_data& data_of(Graph const& g) {
    return g.data();
  }
  /// The handle of the task with this index.
  template <class T, class Graph>
  static task<T> handle(Graph const& g, std::uint32_t index) {
    return g.template handle<T>(index);
  }
  /// Adds a task of a kind of its own.
  template <class Node, class T, class Graph, class... Args>
  static task<T> add_node(Graph& g, Args&&... args) {
    return g.template add_node<Node, T>(std::forward<Args>(args)...);
  }
};

struct graph_memory_access {
  template <class Memory>
  static Memory of(graph_data const& g) {
    return Memory::of(g);
  }
  /// `how`: what be_followed() takes behind the graph.
  template <class Memory, class... How>
  static void follow(graph_data& g, Memory const& memory, How... how) {
    memory.be_followed(g, how...);
  }
};

}  // namespace heist::detail
