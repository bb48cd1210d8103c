// A first program with a graph of tasks.
#include <heist/graph.hpp>

#include <cstdio>

int main() {
  heist::executor ex;
  heist::task_graph g;
  auto a = g.emplace([] { std::puts("a"); });
  auto b = g.emplace([] { std::puts("b"); });
  auto c = g.emplace([] { std::puts("c"); });
  auto d = g.emplace([] { std::puts("d"); });
  a.precede(b, c);
  d.succeed(b, c);
  ex.run(g).get();
}
