// Tasks without a graph: submit returns a future, post does not. A task that waits for another task blocks no worker,
// so one worker is enough for any nesting.
//
//   main --> outer --> inner
#include <heist/executor.hpp>

#include <atomic>
#include <cstdio>

int main() {
  heist::executor ex{1};

  auto seven = ex.submit([] { return 7; });
  std::printf("%d\n", seven.get());

  auto outer = ex.submit([](auto ctx) {
    auto inner = ctx.submit([] { return 20; });
    return inner.get() + 1;  // the task parks; meanwhile the only worker runs `inner`
  });
  std::printf("%d\n", outer.get());

  std::atomic<int> count{0};
  for (int i = 0; i < 1000; ++i) ex.post([&] { ++count; });
  ex.wait_idle();  // rethrows the first exception that no get() has taken
  std::printf("%d\n", count.load());
}
