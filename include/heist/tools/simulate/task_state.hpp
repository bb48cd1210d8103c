// The state of a task during its simulation.
#pragma once

#include <cstdint>

#include "heist/tools/simulate/program.hpp"

namespace heist::sim {

/// How a task has been started, and so where its worker resumes when it has ended.
enum class started : std::uint8_t {
  not_yet,
  called,        ///< in place: its caller resumes
  stolen,        ///< parent-first: it was offered
  child_called,  ///< child-first: its caller resumes, unless that is stolen
  inter,         ///< from a squad's pool
  node,          ///< of a graph
  run            ///< the root of a run
};

/// The kind of a frame's present fork.
enum class fork_kind : std::uint8_t { parent_first, child_first, inter };

struct task_state {
  std::uint32_t caller = none;  ///< the task whose frame is below this one
  std::uint32_t stage = 0;
  std::uint32_t next = 0;   ///< parent-first: the child to join; child-first: to call, then to wait for; of its stage
  std::uint32_t waits = 0;  ///< inter: children that have not ended; a node: predecessors
  std::uint32_t awaits = none;    ///< the child that it waits for
  std::uint32_t depth = 0;        ///< forks between it and its root
  std::uint32_t thief = none;     ///< the worker that runs it, if it was stolen
  std::uint32_t waits_on = none;  ///< join::spin: the worker that waits in its frame
  std::uint32_t left_by = none;   ///< the worker that had the frame before it was stolen, given away, or waited
  std::uint32_t bound = none;     ///< the inter-squad task whose subtree it is in; itself, if it is one
  started how = started::not_yet;
  fork_kind kind = fork_kind::parent_first;
  bool done = false;
  bool joins = false;                ///< child-first: all of its children have been called
  bool published = false;            ///< parent-first: no worker has taken it
  bool continuation_stolen = false;  ///< child-first: its caller resumed while it ran
};

/// Additional state of an inter-squad task.
struct inter_state {
  std::uint64_t path = 0;      ///< a hash of the spawn indices from the region's body to here
  std::uint32_t entry = none;  ///< in the profile
  std::uint32_t squad = 0;     ///< the squad that runs it, and is busy with it unless it is suspended
  std::uint32_t pool = 0;      ///< the squad into whose pool it was put
  bool leaf = false;           ///< its forks are intra-squad tasks
  bool suspended = false;      ///< it waits for inter-squad children
};

}  // namespace heist::sim
