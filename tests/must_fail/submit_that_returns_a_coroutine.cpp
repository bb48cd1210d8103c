// expect: a task returns a coroutine or a sender, which heist would not begin
// lines: 45
// A task whose result is a coroutine.
#include <heist/heist.hpp>

int main() {
  auto const work = [](int x) -> heist::coroutine<int> { co_return x; };
#ifdef HEIST_FIXED
  auto const call = [work](auto x) { return heist::sync_wait(work(x)); };
#else
  auto const call = work;
#endif
  heist::executor ex{1};
  (void)ex.submit([call] { return call(1); });
}
