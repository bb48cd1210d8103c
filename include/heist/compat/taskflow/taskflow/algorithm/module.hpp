// A graph as a callable.
#pragma once

#include "heist/compat/taskflow/taskflow/core/runtime.hpp"

namespace tf {

/// A callable for emplace() and asyncs that runs all tasks of the object's graph, which must stay.
template <GraphLike T>
auto make_module_task(T& target) {
  return [graph = &retrieve_graph(target)](Runtime& runtime) {
    detail::async_scheduler const at = runtime.scheduler();
    at.executor->launch(*graph, *at.above, at.run);
  };
}

}  // namespace tf
