#include <cstddef>
#include <memory>
#include <vector>

#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/task_arena.h>

#include "peers.hpp"

std::function<void()> graph_locality::of_tbb(problem& p, unsigned workers) {
  using node = tbb::flow::continue_node<tbb::flow::continue_msg>;
  struct state {
    explicit state(unsigned n) : arena{static_cast<int>(n)} {
      arena.execute([this] { graph = std::make_unique<tbb::flow::graph>(); });
    }
    tbb::task_arena arena;
    std::unique_ptr<tbb::flow::graph> graph;
    std::vector<std::unique_ptr<node>> nodes;
    std::vector<node*> first;
  };
  auto const s = std::make_shared<state>(workers);
  p.ran_on.resize(p.tasks());
  auto const edges = p.edges();
  for (std::size_t i = 0; i != edges.size(); ++i) {
    s->nodes.push_back(std::make_unique<node>(*s->graph, [&p, i](tbb::flow::continue_msg) {
      p.do_task_on(i, static_cast<unsigned>(tbb::this_task_arena::current_thread_index()));
    }));
    for (std::size_t const b : edges[i]) tbb::flow::make_edge(*s->nodes[b], *s->nodes[i]);
    if (edges[i].empty()) s->first.push_back(s->nodes.back().get());
  }
  return [s] {
    s->arena.execute([&s] {
      for (node* const n : s->first) n->try_put(tbb::flow::continue_msg{});
      s->graph->wait_for_all();
    });
  };
}
