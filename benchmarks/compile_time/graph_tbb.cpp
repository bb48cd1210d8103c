// The program of graph_heist.cpp.
#include <oneapi/tbb/flow_graph.h>

#include <cstdio>

int main() {
  using node = tbb::flow::continue_node<tbb::flow::continue_msg>;
  tbb::flow::graph g;
  node a{g, [](tbb::flow::continue_msg const&) { std::puts("a"); }};
  node b{g, [](tbb::flow::continue_msg const&) { std::puts("b"); }};
  node c{g, [](tbb::flow::continue_msg const&) { std::puts("c"); }};
  node d{g, [](tbb::flow::continue_msg const&) { std::puts("d"); }};
  tbb::flow::make_edge(a, b);
  tbb::flow::make_edge(a, c);
  tbb::flow::make_edge(b, d);
  tbb::flow::make_edge(c, d);
  a.try_put(tbb::flow::continue_msg{});
  g.wait_for_all();
}
