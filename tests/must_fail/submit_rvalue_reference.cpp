// expect: a task cannot return an rvalue reference
// lines: 15
// A task whose result would refer to what it moves from.
#include <heist/heist.hpp>

#include <utility>

int main() {
  heist::executor ex{1};
  int n = 0;
#ifdef HEIST_FIXED
  return ex.submit([&n] { return std::move(n); }).get();
#else
  return ex.submit([&n]() -> int&& { return std::move(n); }).get();
#endif
}
