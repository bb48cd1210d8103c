// expect: a task returns a coroutine or a sender, which heist would not begin
// lines: 45
// A loop whose body returns a coroutine.
#include <heist/heist.hpp>

int main() {
  auto const work = [](char x) -> heist::coroutine<char> { co_return x; };
#ifdef HEIST_FIXED
  auto const call = [work](auto x) { return heist::sync_wait(work(x)); };
#else
  auto const call = work;
#endif
  heist::executor ex{1};
  heist::for_each_index(ex, 0, 3, [call](int x) { return call(static_cast<char>(x)); });
}
