// Pipelines: order in serial stages, values of all kinds, stops, exceptions, misuse, inside tasks of graphs.
#include "heist/pipeline.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "heist/core/sync/completion.hpp"
#include "heist/graph.hpp"
#include "support/catch.hpp"
#include "support/wait_for.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;

TEST_CASE("pipeline: every token once, in order where a stage is serial, on any number of lines and workers",
          "[dynamic]") {
  for (std::size_t workers : {1, 2, 3}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{"pipeline", 100s, [&] { return ex.state_text(); }};
    for (std::size_t lines : {1, 2, 3, 8}) {
      std::vector<int> first, last;
      std::atomic<int> inside{0}, clashes{0}, parallel{0};
      int next = 0;
      heist::pipeline p{lines,
                        heist::serial_stage([&](heist::token& t) {
                          if (t.number() == 500) t.stop();
                          return std::make_unique<int>(next++);
                        }),
                        heist::serial_stage([&](std::unique_ptr<int> x) {
                          clashes += inside++ != 0;
                          first.push_back(*x);
                          --inside;
                          return x;
                        }),
                        heist::parallel_stage([&](std::unique_ptr<int> x) {
                          ++parallel;
                          return std::to_string(*x);
                        }),
                        heist::parallel_stage([](std::string const& s) { return std::stoi(s); }),
                        heist::serial_stage([&](heist::context, int x) { last.push_back(x); })};
      for (int run = 0; run < 5; ++run) {
        first.clear(), last.clear(), next = 0, parallel = 0;
        ex.run(p).get();
        REQUIRE(first.size() == 500);
        REQUIRE(last.size() == 500);
        for (int i = 0; i < 500; ++i) {
          CHECK(first[static_cast<std::size_t>(i)] == i);
          CHECK(last[static_cast<std::size_t>(i)] == i);
        }
        CHECK(parallel == 500);
        CHECK(clashes == 0);
      }
    }
  }
}

TEST_CASE("pipeline: how long stages take is told by some tokens' calls", "[dynamic]") {
  heist::detail::stage_times times{3};
  CHECK(times.are_short(1, 1));
  CHECK_FALSE(times.are_short(0, 1));  // not timed
  for (std::size_t s = 0; s != 3; ++s) times.ran(s, 250);
  CHECK(times.are_short(1, 3));
  CHECK_FALSE(times.are_short(0, 3));
  times.ran(1, 10'000);
  CHECK_FALSE(times.are_short(1, 2));
  times.ran(1, 100);
  CHECK(times.are_short(1, 2));
  times.ran(2, ~std::uint64_t{0});
  CHECK_FALSE(times.are_short(2, 3));
  int timed = 0;
  for (std::size_t token = 0; token != 6400; ++token) timed += heist::detail::stage_times::times(token);
  CHECK(timed > 90);
  CHECK(timed < 120);
}

TEST_CASE("pipeline: where stages are short, one may wait for what the next token does before", "[dynamic]") {
  constexpr std::size_t tokens = 1000;
  for (std::size_t workers : {1, 2, 3}) {
    for (bool const in_child : {false, true}) {
      heist::executor ex{workers};
      heist_test::watchdog guard{"waits for the next", 60s, [&] { return ex.state_text(); }};
      std::vector<heist::detail::completion> been(tokens);
      std::size_t sum = 0, has_waited = 0;
      heist::pipeline p{4, heist::serial_stage([&](heist::token& t) {
                          if (t.number() == tokens) t.stop();
                          return t.number();
                        }),
                        heist::serial_stage([&](std::size_t x) {
                          been[x].complete();
                          return x;
                        }),
                        heist::serial_stage([&](heist::context c, std::size_t x) {
                          if (x % 97 != 50 || x + 1 == tokens) return x;
                          ++has_waited;
                          auto const wait = [&] { heist_test::wait_for(been[x + 1]); };
                          if (in_child) {
                            c.fork_join(wait, [] {});
                          } else {
                            wait();
                          }
                          return x;
                        }),
                        heist::serial_stage([&](std::size_t x) { sum += x; })};
      ex.run(p).get();
      CHECK(sum == tokens * (tokens - 1) / 2);
      CHECK(has_waited == 10);
    }
  }
}

TEST_CASE("pipeline: stages may wait, fork and run other pipelines; none, one or more tokens", "[dynamic]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"nested", 60s, [&] { return ex.state_text(); }};
  for (std::size_t tokens : {0, 1, 2, 30}) {
    std::atomic<std::size_t> sum{0};
    heist::pipeline p{4, heist::serial_stage([&](heist::token& t) {
                        if (t.number() == tokens) t.stop();
                      }),
                      heist::parallel_stage([&](heist::context c) {
                        auto [a, b] = c.fork_join([] { return std::size_t{1}; },
                                                  [&] { return c.submit([] { return std::size_t{2}; }).get(); });
                        heist::pipeline inner{2, heist::serial_stage([&](heist::token& t) {
                                                if (t.number() == 3) t.stop();
                                                if (t.number() < 3) ++sum;
                                              })};
                        c.run(inner).get();
                        return a + b;
                      }),
                      heist::serial_stage([&](std::size_t x) { sum += x; })};
    ex.run(p).get();
    CHECK(sum == 6 * tokens);
    heist::task_graph g;
    g.emplace([&](heist::context c) { c.run(p).get(); });
    ex.run(g).get();
    CHECK(sum == 12 * tokens);
  }
}

TEST_CASE("pipeline: the first exception ends it, whichever stage throws, and it can run again", "[dynamic]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"exceptions", 60s, [&] { return ex.state_text(); }};
  for (int stage = 0; stage < 3; ++stage) {
    bool throws = true;
    int through = 0;
    heist::pipeline p{3, heist::serial_stage([&](heist::token& t) {
                        if (t.number() == 100) t.stop();
                        if (throws && stage == 0 && t.number() == 50) throw std::runtime_error{"planned"};
                        return t.number();
                      }),
                      heist::parallel_stage([&](std::size_t n) {
                        if (throws && stage == 1 && n == 50) throw std::runtime_error{"planned"};
                        return n;
                      }),
                      heist::serial_stage([&](std::size_t n) {
                        if (throws && stage == 2 && n == 50) throw std::runtime_error{"planned"};
                        ++through;
                      })};
    CHECK_THROWS_WITH(ex.run(p).get(), "planned");
    CHECK(through <= 50);
    throws = false, through = 0;
    ex.run(p).get();
    CHECK(through == 100);
  }
}

TEST_CASE("pipeline: a stop token, a second run at the same time, a handle that is dropped", "[dynamic]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"stop", 60s, [&] { return ex.state_text(); }};
  std::stop_source source;
  std::atomic<int> begun{0};
  {
    heist::pipeline p{2, heist::serial_stage([&](heist::token&) { ++begun; })};
    auto run = ex.run(p, heist::with{.stop = source.get_token()});
    while (begun == 0) std::this_thread::yield();
    CHECK_THROWS_AS(ex.run(p).get(), heist::executor_error);
    source.request_stop();
    CHECK_THROWS_AS(run.get(), heist::stopped_error);
    begun = 0;
    std::stop_source other;
    static_cast<void>(ex.run(p, heist::with{.stop = other.get_token()}));
    while (begun == 0) std::this_thread::yield();
    other.request_stop();
  }                // waits for the run
  ex.wait_idle();  // reports nothing: the handle of the stopped run was dropped
  CHECK_THROWS_AS((heist::pipeline{0, heist::serial_stage([](heist::token& t) { t.stop(); })}), heist::executor_error);
}
