// A task of a graph: as it is built (node) and as it is laid out for running (record).
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/scheduler/runnable.hpp"

namespace heist::detail {

struct event_part;
struct graph_data;
struct node;

/// The functions that differ by the type of a task.
struct node_operations : described_operations {
  runnable::run_function run;
  void (*destroy)(node& self) noexcept;
  void (*forget_value)(node& self) noexcept;  ///< null where there is none
  std::uint32_t bytes, alignment;             ///< of the node
  task_kind kind;
  bool leaves_number;                         ///< an ordinary task with an integral value, as a condition has
  event_part* (*event)(node& self) noexcept;  ///< null where it is none
  /// The bytes of the value that it has left, 0 if there is none now (value_bytes.hpp). Null for an unknown type.
  std::uint64_t (*bytes_left)(node const& self) noexcept;
};

/// A task as it is built; its callable and its result follow in the same piece of memory.
struct node : described {
  explicit node(node_operations const& of_type) noexcept : described{&of_type} {}
  node_operations const& type() const noexcept { return static_cast<node_operations const&>(*operations); }

  std::uint32_t index = 0;    ///< into graph_data::nodes; those of erased tasks are used again
  std::uint32_t limits = 0;   ///< 1 + index into graph_data::limits; 0: none
  std::uint32_t created = 0;  ///< how many tasks the graph had had before: tells it from older tasks with its index
};
static_assert(sizeof(node) == 24);

/// An edge as it is built. Task indices stay below 2^31.
struct edge {
  static constexpr std::uint32_t value_bit = std::uint32_t{1} << 31;

  std::uint32_t from_and_value;  ///< the top bit: the successor takes the predecessor's value
  std::uint32_t to;

  std::uint32_t from() const noexcept { return from_and_value & ~value_bit; }
  bool is_value_edge() const noexcept { return (from_and_value & value_bit) != 0; }
};

/// A task laid out for running. Records stand in the order in which one worker runs them, so that a run walks through
/// memory forwards; the successors of a record end where those of the next one begin.
struct record : runnable {
  graph_data* graph;
  std::uint32_t first_successor;
  std::uint32_t predecessors;  ///< that must finish first

  node& built() const noexcept { return *const_cast<node*>(static_cast<node const*>(what)); }
};
static_assert(sizeof(record) == 32, "heist: two records share a cache line");

/// A successor of a record: its position, and whether it has no other predecessor and so needs no join counter.
class successor {
  static constexpr std::uint32_t direct_bit = std::uint32_t{1} << 31;

 public:
  successor() = default;
  successor(std::uint32_t position, bool direct) noexcept : bits_{position | (direct ? direct_bit : 0)} {}
  std::uint32_t position() const noexcept { return bits_ & ~direct_bit; }
  bool direct() const noexcept { return (bits_ & direct_bit) != 0; }

 private:
  std::uint32_t bits_;
};

}  // namespace heist::detail
