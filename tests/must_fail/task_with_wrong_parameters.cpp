// expect: a task must be callable as f\(\) or f\(heist::context\), with the values of the tasks it takes
// lines: 15
// A task that takes a text where its predecessor gives a number.
#include <heist/heist.hpp>

#include <string>

int main() {
  heist::task_graph g;
  heist::task<int> number = g.emplace([] { return 1; });
#ifdef HEIST_FIXED
  g.emplace([](int) {}, number);
#else
  g.emplace([](std::string) {}, number);
#endif
}
