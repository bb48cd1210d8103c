// How executors start runs of graphs, parts of graphs and pipelines, whose start_run() is private.
#pragma once

#include <cstddef>  // size_t

namespace heist::detail {

class core;

struct start_access {
  template <class Graph, class... Options>
  static auto run(Graph& graph, core& on, std::size_t passes, Options&&... options) {
    return graph.start_run(on, passes, static_cast<Options&&>(options)...);
  }
  template <class Graph, class Predicate, class... Options>
  static auto run_until(Graph& graph, core& on, Predicate&& done, Options&&... options) {
    return graph.start_run_until(on, static_cast<Predicate&&>(done), static_cast<Options&&>(options)...);
  }
};

}  // namespace heist::detail
