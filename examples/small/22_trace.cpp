// Where did the time go? A recorder keeps every event. From the events summarize() computes figures, write_report() a
// page for a browser, and write_chrome_trace() a file for https://ui.perfetto.dev. The same without code:
// HEIST_REPORT=- ./program, HEIST_REPORT=report.html, HEIST_TRACE=trace.json
//
//   load --> long way --> add
//    \---> short way ------^
#include <heist/heist.hpp>
#include <heist/observe.hpp>
#include <heist/report.hpp>

#include <cstdio>
#include <sstream>
#include <string>

int volatile here;

void busy(int rounds) {
  for (int i = 0; i < rounds; ++i) here = i;
}

int main() {
  heist::executor<heist::policy::random, heist::recorder> ex{2};
  heist::task_graph g;
  auto load = g.emplace([] { busy(1'000); }).name("load");
  auto long_way = g.emplace([] { busy(20'000'000); }).name("long way");
  auto short_way = g.emplace([] { busy(10); }).name("short way");
  auto add = g.emplace([] { busy(1'000); }).name("add");
  load.precede(long_way, short_way);
  add.succeed(long_way, short_way);
  ex.run(g).get();

  heist::trace_summary const s = heist::summarize(ex.observer());
  std::printf("the longest task: %s\n", s.longest.front().name.c_str());
  std::printf("the critical path:");
  for (auto const& t : s.critical_path)
    std::printf(" %s%s", t.name.c_str(), &t == &s.critical_path.back() ? "\n" : ",");
  std::printf("tasks: %zu, of which none was lost: %s\n", s.tasks - 1, s.released == 0 ? "yes" : "no");  // 1: the run

  std::ostringstream page, trace;
  heist::write_report(page, ex.observer());
  heist::write_chrome_trace(trace, ex.observer());
  std::printf("a page: %s, a trace: %s\n", page.str().starts_with("<!DOCTYPE html>") ? "yes" : "no",
              trace.str().find("long way") != std::string::npos ? "yes" : "no");
}
