// A graph as a task of another graph: the program builds it once and uses it twice.
//
//   even --> [ count ] --> odd --> [ count ] --> print
#include <heist/graph.hpp>

#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>

int main() {
  heist::executor ex;
  int first = 0, sum = 0;

  heist::task_graph count{"count"};
  count.emplace([&] {
    for (int i = first; i < 10; i += 2) sum += i;
  });

  heist::task_graph g{"sums"};
  auto even = g.emplace([&] { first = 0; }).name("even");
  auto sum_even = g.compose(count).name("count the even");
  auto odd = g.emplace([&] { first = 1; }).name("odd");
  auto sum_odd = g.compose(count).name("count the odd");
  auto print = g.emplace([&] { std::printf("0 + 1 + ... + 9 = %d\n", sum); }).name("print");
  even.precede(sum_even);
  sum_even.precede(odd);
  odd.precede(sum_odd);
  sum_odd.precede(print);

  ex.run(g).get();

  std::ostringstream dot;  // for Graphviz
  g.dot(dot);
  std::cout << dot.str();
}
