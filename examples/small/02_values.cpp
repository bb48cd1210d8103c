// Values along edges: a task takes the results of other tasks as arguments. Each argument also makes an edge.
//
//   width --+--> area ------+
//           |               +--> text
//   height -+--> perimeter -+
#include <heist/graph.hpp>

#include <cstdio>
#include <string>

int main() {
  heist::executor ex;
  heist::task_graph g;

  heist::task<int> width = g.emplace([] { return 3; });
  heist::task<int> height = g.emplace([] { return 4; });
  auto area = g.emplace([](int w, int h) { return w * h; }, width, height);
  auto perimeter = g.emplace([](int w, int h) { return 2 * (w + h); }, width, height);
  auto text = g.emplace([](int a, int p) { return "area " + std::to_string(a) + ", perimeter " + std::to_string(p); },
                        area, perimeter);

  ex.run(g).get();
  std::puts(text.result().c_str());  // the task keeps its result until the next run
}
