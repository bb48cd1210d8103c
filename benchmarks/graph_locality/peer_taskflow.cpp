#include <cstddef>
#include <memory>
#include <vector>

#include <taskflow/taskflow.hpp>

#include "peers.hpp"

std::function<void()> graph_locality::of_taskflow(problem& p, unsigned workers) {
  struct state {
    explicit state(unsigned n) : executor{n} {}
    tf::Executor executor;
    tf::Taskflow graph;
  };
  auto const s = std::make_shared<state>(workers);
  p.ran_on.resize(p.tasks());
  std::vector<tf::Task> all;
  auto const edges = p.edges();
  for (std::size_t i = 0; i != edges.size(); ++i) {
    all.push_back(
        s->graph.emplace([&p, i, ex = &s->executor] { p.do_task_on(i, static_cast<unsigned>(ex->this_worker_id())); }));
    for (std::size_t const b : edges[i]) all[b].precede(all[i]);
  }
  return [s] { s->executor.run(s->graph).get(); };
}
