// Nothing is silent: exceptions that no caller takes, and the waits of a program that hangs.
#include <unistd.h>  // pipe, dup2, read

#include <atomic>
#include <chrono>
#include <cstdlib>  // setenv
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "faults/child_process.hpp"
#include "heist/async.hpp"
#include "heist/graph.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"
#include "support/yield.hpp"
#include "unit/fork/every_policy.hpp"

using namespace std::chrono_literals;

namespace {

struct failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
[[noreturn]] void fail(char const* what) {
  throw failure{what};
}

/// The text of the exception that wait_idle() throws, or empty.
template <class Executor>
std::string of_wait_idle(Executor& ex) {
  try {
    ex.wait_idle();
  } catch (failure const& e) {
    return e.what();
  }
  return {};
}

}  // namespace

TEST_CASE("unfetched: an exception reaches wait_idle(), whoever has let go of it", "[sched]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s, "unfetched"};
  ex.post([] { fail("posted"); });
  CHECK(of_wait_idle(ex) == "posted");
  CHECK(of_wait_idle(ex).empty());
  static_cast<void>(ex.submit([] { fail("dropped at once"); }));
  CHECK(of_wait_idle(ex) == "dropped at once");
  {
    auto const later = ex.submit([] { fail("dropped later"); });
    later.wait();
    CHECK(of_wait_idle(ex).empty());  // it may still be asked for
  }
  CHECK(of_wait_idle(ex) == "dropped later");
  CHECK_THROWS_AS(ex.submit([] { fail("asked for"); }).get(), failure);
  CHECK(of_wait_idle(ex).empty());
  std::stop_source stop;
  stop.request_stop();
  static_cast<void>(ex.submit(heist::with{.stop = stop.get_token()}, [] { fail("never begun"); }));
  CHECK(of_wait_idle(ex).empty());  // a stop that was asked for is no failure
}

TEST_CASE("unfetched: the runs of graphs", "[sched]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s, "unfetched runs"};
  for (bool const loops : {false, true}) {  // counted by tasks, by tokens
    heist::task_graph g;
    g.emplace([] { fail("in a graph"); });
    if (loops) g.emplace_condition([] { return -1; });
    static_cast<void>(ex.run(g));
    CHECK(of_wait_idle(ex) == "in a graph");
    {
      auto const run = ex.run(g);
      run.wait();
      CHECK(of_wait_idle(ex).empty());
    }
    CHECK(of_wait_idle(ex) == "in a graph");
    CHECK_THROWS_AS(ex.run(g).get(), failure);
    CHECK(of_wait_idle(ex).empty());
    heist::task_graph outer;
    outer.compose(g);
    CHECK_THROWS_AS(ex.run(outer).get(), failure);  // once, of the outer
    CHECK(of_wait_idle(ex).empty());
    for (int i = 0; i < 200; ++i) {  // dropped at any moment of its life
      static_cast<void>(ex.run(g));
      if (i % 3 == 0) heist_test::yield();
      CHECK(of_wait_idle(ex) == "in a graph");
    }
  }
}

TEST_CASE("unfetched: what nobody has asked for when the executor ends is said", "[sched]") {
  auto const posted = heist_test::run_child([] {
    heist::executor ex{2};
    ex.post([] { fail("nobody heard of me"); });
  });
  INFO(posted.text());
  CHECK(posted.clean());
  CHECK(posted.says("nobody heard of me"));
  CHECK(posted.says("fix it by"));
  auto const released_after = heist_test::run_child([] {
    heist::future<void> outlives;
    {
      heist::executor ex{1};
      outlives = ex.submit([] { fail("dropped after the executor"); });
    }
  });
  INFO(released_after.text());
  CHECK(released_after.clean());
  CHECK(released_after.says("dropped after the executor"));
  auto const silent = heist_test::run_child([] {
    heist::executor ex{1};
    try {
      ex.submit([] { fail("asked for"); }).get();
    } catch (failure const&) {
    }
  });
  INFO(silent.text());
  CHECK(silent.clean());
  CHECK(silent.output.empty());
}

TEST_CASE("state_text: names a thread that waits for a limited time", "[sched]") {
  heist::executor ex{1};
  heist_test::watchdog guard{ex, 60s, "timed wait"};
  std::atomic<bool> open{false};
  auto slow = ex.submit([&open] {
    while (!open) std::this_thread::sleep_for(1ms);
  });
  std::thread waits{[&slow] {
    while (!slow.wait_for(1h)) {
    }
  }};
  char const* const expected = "a thread outside of all executors waits for a future, for a limited time (for ";
  while (ex.state_text().find(expected) == std::string::npos) std::this_thread::sleep_for(1ms);
  open = true;
  waits.join();
  CHECK(ex.state_text().find(expected) == std::string::npos);
}

TEST_CASE("state_text: names the tasks that wait, and what they wait for", "[sched]") {
  heist::executor io{1}, ex{2};
  heist_test::watchdog guard{ex, 60s, "state text"};
  std::atomic<bool> open{false};
  auto const gate = [&open] {
    while (!open) std::this_thread::sleep_for(1ms);
  };
  auto slow = io.submit(gate);
  heist::task_graph inner{"the inner graph"};
  inner.emplace([&slow] { slow.wait(); }).name("waits for the gate");
  heist::task_graph g{"the outer graph"};
  g.emplace([&] { ex.run(inner).get(); }).name("waits for a run");
  auto run = ex.run(g);
  ex.post([&] { io.submit([] {}).get(); });
  auto const complete = [&ex] {
    std::string const text = ex.state_text();
    return text.find("task waits for the gate waits for a future") != std::string::npos &&
           text.find("task waits for a run waits for a run of the graph the inner graph") != std::string::npos &&
           text.find("async waits for a future (for ") != std::string::npos &&
           text.find("async waits for the task slow one (for ") != std::string::npos &&
           text.find("a thread outside of all executors waits for a run of the graph the outer graph (for ") !=
               std::string::npos;
  };
  std::thread outside{[&run] { run.wait(); }};
  auto named = io.submit(heist::with{.name = "slow one"}, gate);
  ex.post([&] { named.get(); });
  while (!complete()) std::this_thread::sleep_for(1ms);
  open = true;
  outside.join();
  run.get();
  ex.wait_idle();
  CHECK(ex.state_text().find("waits for") == std::string::npos);
}

TEST_CASE("state_text: the time that a wait has lasted", "[sched]") {
  // The test may be interrupted for long between two looks at the clock, but not each time.
  auto const says = [](std::int64_t milliseconds, char const* what) {
    for (int i = 0; i != 20; ++i) {
      auto const since = heist::os_env::coarse_nanoseconds() - milliseconds * 1'000'000;
      if (heist::detail::wait_text(since).find(what) != std::string::npos) return true;
    }
    return false;
  };
  CHECK(says(0, " ms)"));
  CHECK(says(2000, " (for 2."));
  CHECK(says(3'600'000, " (for 3600."));
}

TEST_CASE("HEIST_WATCHDOG: says once what waits when nothing moves", "[sched]") {
  auto const report = heist_test::run_child(
      [] {
        ::setenv("HEIST_WATCHDOG", "0.2", 1);
        int ends[2];
        CHILD_REQUIRE(::pipe(ends) == 0);
        int const before = ::dup(STDERR_FILENO);
        ::dup2(ends[1], STDERR_FILENO);
        heist::executor io{1}, ex{1};
        ::unsetenv("HEIST_WATCHDOG");
        std::atomic<bool> open{false};
        auto slow = io.submit([&open] {
          while (!open) std::this_thread::sleep_for(1ms);
        });
        auto waits = ex.submit([&slow] { slow.wait(); });
        std::string text;
        while (text.find("async waits for a future") == std::string::npos) {
          char buffer[4096];
          auto const n = ::read(ends[0], buffer, sizeof buffer);
          CHILD_REQUIRE(n > 0);
          text.append(buffer, static_cast<std::size_t>(n));
        }
        ::dup2(before, STDERR_FILENO);
        std::fputs(text.c_str(), stdout);
        open = true;
        waits.get();
      },
      60s);
  INFO(report.text());
  CHECK(report.clean());
  CHECK(report.says("no task has begun or ended"));
  CHECK(report.says("HEIST_WATCHDOG"));
}

TEST_CASE("HEIST_WATCHDOG: a static variable whose initialiser waits is named", "[sched]") {
  auto const report = heist_test::run_child(
      [] {
        ::setenv("HEIST_WATCHDOG", "1", 1);
        int ends[2];
        CHILD_REQUIRE(::pipe(ends) == 0);
        ::dup2(ends[1], STDERR_FILENO);
        auto* const io = new heist::executor{1};
        auto* const ex = new heist::executor{1};
        auto const table = [io]() -> int {
          static int const value = io->submit([] {
                                       std::this_thread::sleep_for(50ms);
                                       return 42;
                                     }).get();
          return value;
        };
        for (int i = 0; i < 2; ++i) ex->post([table] { static_cast<void>(table()); });
        std::string text;
        while (text.find("static variable") == std::string::npos) {
          char buffer[4096];
          auto const n = ::read(ends[0], buffer, sizeof buffer);
          CHILD_REQUIRE(n > 0);
          text.append(buffer, static_cast<std::size_t>(n));
        }
        std::fputs(text.c_str(), stdout);
        std::fflush(stdout);
        ::_exit(0);  // it hangs for ever: heist cannot know
      },
      60s);
  INFO(report.text());
  CHECK(report.clean());
}
