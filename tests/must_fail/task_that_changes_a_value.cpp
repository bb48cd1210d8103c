// expect: a task must be callable as f\(\) or f\(heist::context\), with the values of the tasks it takes
// lines: 15
// A task that would change what others may be reading.
#include <heist/heist.hpp>

#include <string>

int main() {
  heist::task_graph g;
  auto text = g.emplace([] { return std::string{"heist"}; });
#ifdef HEIST_FIXED
  g.emplace([](std::string const& s) { return s + '!'; }, text);
#else
  g.emplace([](std::string& s) { s += '!'; }, text);
#endif
}
