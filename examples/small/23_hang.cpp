// A program that stands still, and how to see why: a task waits for a future that nobody fulfils. state_text() tells who
// waits for what; HEIST_WATCHDOG=5 ./program prints the same by itself after five silent seconds.
#include <heist/heist.hpp>

#include <cstdio>
#include <string>
#include <string_view>
#include <thread>

int main() {
  heist::executor ex{1};
  heist::task_graph g;
  auto answer = g.emplace_event<int>();  // something outside was to fulfil it, and has not
  answer.name("answer");
  g.emplace([](int n) { std::printf("the answer is %d\n", n); }, answer).name("print");
  auto run = ex.run(g);
  auto caller = ex.submit(heist::with{.name = "caller"}, [&] { run.get(); });

  std::string state;  // a program that hangs would be looked at from outside
  while (state.find("parked:") == std::string::npos) {
    std::this_thread::yield();
    state = ex.state_text();
  }
  for (std::string_view rest = state; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1)) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    line = line.substr(0, line.find(" (for "));  // the time so far
    if (line.find("parked:") != line.npos) std::printf("%.*s\n", static_cast<int>(line.size()), line.data());
  }
  answer.set_value(42);  // the mending
  caller.get();
}
