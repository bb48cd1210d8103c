// expect: a task cannot return an rvalue reference
// lines: 15
// A task whose result would refer to a local variable of somebody else.
#include <heist/heist.hpp>

#include <string>
#include <utility>

int main() {
  heist::task_graph g;
  std::string text;
#ifdef HEIST_FIXED
  g.emplace([&text]() -> std::string { return std::move(text); });
#else
  g.emplace([&text]() -> std::string&& { return std::move(text); });
#endif
}
