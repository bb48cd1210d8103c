// The edges of a graph while it is laid out.
#pragma once

#include <cstdint>

#include "heist/core/base/vector.hpp"
#include "heist/graph/graph_data.hpp"

namespace heist::detail {

/// The edges of a graph by predecessor, and each task's number of predecessors that count.
struct adjacency {
  explicit adjacency(graph_data const& g);

  bool is_weak(std::uint32_t from) const noexcept { return weak_any && weak[from] != 0; }

  // In one piece of memory, with room for what the layout needs besides.
  vector<std::uint32_t> memory;
  std::uint32_t* const first;     ///< by task: where its successors begin; one more at the end
  std::uint32_t* const strong;    ///< by task: predecessors that must finish first
  std::uint32_t* const left;      ///< by task: of these, how many have not been ordered; before that, its way
  std::uint32_t* const order;     ///< the tasks in the order of their records
  std::uint32_t* const position;  ///< by task: of its record; before that, a stack
  std::uint32_t* const to;        ///< successors, in order of creation of the edges; then the wanted ones first
  vector<char> weak;              ///< by task: is it a condition, whose edges choose instead of count?
  vector<char> chosen;            ///< by task: is there a condition that may choose it?
  bool weak_any = false;
  bool ascending = true;  ///< every edge leads to a task of a larger index
};

}  // namespace heist::detail
