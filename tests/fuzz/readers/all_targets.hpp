// The targets. Each is a file of its own.
#pragma once

#include <span>

#include "target.hpp"

namespace fuzz {

extern target const json_target;
extern target const synthetic_target;
extern target const xml_target;
extern target const cgroup_target;
extern target const squads_target;
extern target const steal_tree_target;
extern target const graph_memory_target;
extern target const profile_target;
extern target const recording_target;
extern target const netlist_target;

/// Readers of the library and of the examples.
std::span<target const* const> all_targets();

/// A reader with a bug, and the finding that the driver must report; none for the reader without a bug.
struct planted {
  target reader;
  char const* report;
};
/// They show that the driver is awake.
std::span<planted const> planted_targets();

}  // namespace fuzz
