// A task that runs although its run has failed or was stopped: to put back, to close, to notify.
#pragma once

#include <utility>  // forward

#include "heist/graph/run_state.hpp"
#include "heist/graph/typed_node.hpp"

namespace heist::detail {

template <class F>
struct always_node final : node {
  static constexpr task_kind kind = task_kind::task;

  template <class G>
  explicit always_node(G&& g) : node(operations_of<always_node>), function(std::forward<G>(g)) {}

  static runnable* run(runnable& task, fiber& self) {
    record& r = begin_task(task, self);
    run_state& state = *r.graph->current;
    try {
      call_with_context<context>(static_cast<always_node&>(r.built()).function, self, &state.interrupt);
    } catch (...) {
      state.fail(exception_of_task(), &r);
    }
    return finish(r, self);
  }

  [[no_unique_address]] F function;
};

}  // namespace heist::detail
