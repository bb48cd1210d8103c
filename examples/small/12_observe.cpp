// An observer is the executor's second template parameter. Counters count events; a recorder keeps every event for a
// trace that https://ui.perfetto.dev shows. Without an observer the compiled code has no test for one.
//
//   a --> b --> c
#include <heist/heist.hpp>
#include <heist/observe.hpp>

#include <cstdio>
#include <sstream>

template <class Executor>
void run(Executor& ex) {
  heist::task_graph g;
  auto a = g.emplace([] {}).name("a");
  auto b = g.emplace([] {}).name("b");
  auto c = g.emplace([] {}).name("c");
  a.precede(b);
  b.precede(c);
  ex.run_n(g, 10).get();
}

int main() {
  heist::executor<heist::policy::random, heist::counters> counting{2};
  run(counting);
  // Three tasks in each of ten runs, and the tasks that start the runs.
  std::printf("all counted: %s\n", counting.observer().total().tasks >= 30 ? "yes" : "no");

  heist::executor<heist::policy::random, heist::recorder> recording{2};
  run(recording);
  std::ostringstream trace;
  heist::write_chrome_trace(trace, recording.observer());
  int slices = 0;
  for (std::size_t at = 0; (at = trace.str().find("\"name\":\"b\"", at)) != std::string::npos; ++at) ++slices;
  std::printf("b ran %d times\n", slices);
}
