// A program that hangs, and how to find the reason. A task waits for a value that no thread delivers. `state_text()`
// names each waiting task and its object. HEIST_WATCHDOG=5 ./program prints the same text after five silent seconds.
#include <heist/heist.hpp>

#include <cstdio>
#include <string>
#include <string_view>
#include <thread>

int main() {
  heist::executor ex{1};
  heist::task_graph g;
  auto answer = g.emplace_event<int>();  // code outside should have set the value
  answer.name("answer");
  g.emplace([](int n) { std::printf("the answer is %d\n", n); }, answer).name("print");
  auto run = ex.run(g);
  auto caller = ex.submit(heist::with{.name = "caller"}, [&] { run.get(); });

  std::string state;  // in a real hang another thread reads the state
  while (state.find("parked:") == std::string::npos) {
    std::this_thread::yield();
    state = ex.state_text();
  }
  for (std::string_view rest = state; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1)) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    line = line.substr(0, line.find(" (for "));  // cut off the waiting time
    if (line.find("parked:") != line.npos) std::printf("%.*s\n", static_cast<int>(line.size()), line.data());
  }
  answer.set_value(42);  // the fix
  caller.get();
}
