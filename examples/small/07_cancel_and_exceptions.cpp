// Failures: the waiting caller receives the first exception, and tasks that have not begun are skipped. A stop token
// skips them without an exception. The graph can run again.
//
//   read --> parse --> store
#include <heist/fork_join.hpp>
#include <heist/graph.hpp>

#include <cstdio>
#include <stdexcept>
#include <stop_token>

int main() {
  heist::executor ex;
  heist::task_graph g;
  bool broken = true;
  auto read = g.emplace([] { std::puts("read"); });
  auto parse = g.emplace([&] {
    if (broken) throw std::runtime_error{"line 3: no number"};
    std::puts("parse");
  });
  auto store = g.emplace([] { std::puts("store"); });
  read.precede(parse);
  parse.precede(store);

  try {
    ex.run(g).get();
  } catch (std::runtime_error const& e) {
    std::printf("failed: %s\n", e.what());
  }
  broken = false;
  ex.run(g).get();

  std::stop_source stop;
  stop.request_stop();  // from any thread, at any time
  auto run = ex.run(g, heist::with{.stop = stop.get_token()});
  run.wait();
  std::printf("stopped: %s\n", run.stopped() ? "yes" : "no");

  // A long task polls for a stop request.
  int const rounds = ex.invoke([](auto ctx) {
    int n = 0;
    heist::scope s{ctx};
    s.fork([&](auto c) {
      while (!c.stop_requested() && n < 3) ++n;
    });
    s.join();
    return n;
  });
  std::printf("%d rounds\n", rounds);
}
