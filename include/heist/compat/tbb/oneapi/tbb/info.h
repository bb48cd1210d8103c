// What the layer says of the machine.
#pragma once

#include <vector>

#include "heist/compat/tbb/oneapi/tbb/detail/arena.hpp"

namespace tbb {

using numa_node_id = int;
using core_type_id = int;

/// task_arena::constraints. Only the number of threads has an effect.
struct info_constraints {
  info_constraints(numa_node_id node = -1, int threads = -1) : numa_id{node}, max_concurrency{threads} {}
  info_constraints& set_numa_id(numa_node_id id) {
    numa_id = id;
    return *this;
  }
  info_constraints& set_max_concurrency(int n) {
    max_concurrency = n;
    return *this;
  }
  info_constraints& set_core_type(core_type_id id) {
    core_type = id;
    return *this;
  }
  info_constraints& set_max_threads_per_core(int n) {
    max_threads_per_core = n;
    return *this;
  }
  numa_node_id numa_id;
  int max_concurrency;
  core_type_id core_type = -1;
  int max_threads_per_core = -1;
};

namespace info {

/// One node that stands for all, as oneTBB has it where it cannot look at the machine.
inline std::vector<numa_node_id> numa_nodes() {
  return {-1};
}
inline std::vector<core_type_id> core_types() {
  return {-1};
}
inline int default_concurrency(numa_node_id = -1) {
  return static_cast<int>(detail::market::default_concurrency());
}
inline int default_concurrency(info_constraints const& c) {
  return c.max_concurrency > 0 ? c.max_concurrency : default_concurrency();
}

}  // namespace info
}  // namespace tbb
