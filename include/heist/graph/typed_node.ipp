// Bodies of typed_node.hpp.
#pragma once

#include "heist/graph/typed_node.hpp"

#include "heist/core/base/format.hpp"
#include "heist/graph/limited.hpp"

namespace heist::detail {

HEIST_COLD_BODY void reject_missing_value(record const& r) {
  throw graph_error{format_text(
      "{} takes the value of a task that has not run: a condition has led around it, or only a part of the graph "
      "runs. Fix it by letting every path to {} lead through the tasks whose values it takes, or by a run "
      "of the whole graph before the part.",
      {r.graph->task_name(r.built().index), r.graph->task_name(r.built().index)})};
}

HEIST_COLD_BODY runnable* module_node::run(runnable& task, fiber& self) {
  record& r = begin_task(task, self);
  graph_data& g = *r.graph;
  run_state& state = *g.current;
  if (!state.interrupted()) {
    bool started = false;
    g.count_one_more();  // the end of the inner run may come at once, and this call has not returned then
    try {
      static_cast<module_node&>(r.built()).inner.start_nested(r, self.scheduler);
      started = true;
    } catch (...) {
      state.fail(exception_of_task(), &r);
    }
    self.worker->count_for(g);
    if (started) return nullptr;  // the end of the inner run finishes this task
  }
  return end_of_module(r, self);
}

HEIST_COLD_BODY runnable* end_of_module(record& r, fiber& self) {
  self.scheduler.tell_module_end(*self.worker, view_of(r));
  release_limits(r);
  return finish(r, self);
}

}  // namespace heist::detail
