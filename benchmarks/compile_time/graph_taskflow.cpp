// The program of graph_heist.cpp.
#include <cstdio>
#include <taskflow/taskflow.hpp>

int main() {
  tf::Executor ex;
  tf::Taskflow g;
  auto a = g.emplace([] { std::puts("a"); });
  auto b = g.emplace([] { std::puts("b"); });
  auto c = g.emplace([] { std::puts("c"); });
  auto d = g.emplace([] { std::puts("d"); });
  a.precede(b, c);
  d.succeed(b, c);
  ex.run(g).get();
}
