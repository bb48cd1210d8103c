// expect: the given task is a coroutine or a sender, and no callable
// lines: 15
// A coroutine itself, given in place of a callable.
#include <heist/heist.hpp>

int main() {
  auto const work = [](int x) -> heist::coroutine<int> { co_return x; };
  heist::executor ex{1};
#ifdef HEIST_FIXED
  (void)ex.submit([&] { return heist::sync_wait(work(1)); });
#else
  (void)ex.submit(work(1));
#endif
}
