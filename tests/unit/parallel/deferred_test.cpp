// Pipelines whose stages are known at run time, and tokens that wait for others before the first stage.
#include "heist/pipeline.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "heist/async.hpp"
#include "heist/graph.hpp"
#include "heist/policy.hpp"
#include "heist/tiers.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;
using heist::stage_mode;
using heist::token;

TEST_CASE("scalable_pipeline: every token once through every stage, in order where a stage is serial", "[dynamic]") {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{ex, 100s};
    for (std::size_t const lines : {1u, 2u, 3u, 8u}) {
      heist::scalable_pipeline p{lines};
      for (std::uint32_t kinds = 0; kinds < 32; kinds += 3) {  // one bit for each stage after the first: is it serial?
        std::vector<std::vector<int>> buffer(lines);
        std::atomic<int> clashes{0};
        std::vector<int> inside(6);
        std::vector<std::size_t> next(6);
        p.clear();
        auto const stage = [&](int s, bool serial) {
          return [&, s, serial](token& t) {
            auto const at = static_cast<std::size_t>(s);
            if (s == 0) {
              if (t.number() == 200) return t.stop();
              clashes += !buffer[t.line()].empty();
            }
            if (serial) clashes += inside[at]++ != 0 || next[at]++ != t.number();
            buffer[t.line()].push_back(s);
            if (serial) --inside[at];
            if (s != 5) return;
            clashes += buffer[t.line()] != std::vector<int>{0, 1, 2, 3, 4, 5};
            buffer[t.line()].clear();
          };
        };
        for (int s = 0; s != 6; ++s) {
          bool const serial = s == 0 || (kinds >> (s - 1) & 1) != 0;
          p.add(serial ? stage_mode::serial : stage_mode::parallel, stage(s, serial));
        }
        CHECK(p.size() == 6);
        for (int run = 0; run != 3; ++run) {
          next.assign(6, 0);
          ex.run(p).get();
        }
        CHECK(clashes == 0);
        CHECK(next[0] == 200);
      }
    }
  }
}

TEST_CASE("scalable_pipeline: one stage, none, more stages in the next run, a context, a graph's task", "[dynamic]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  heist::scalable_pipeline p{3};
  CHECK_THROWS_AS(ex.run(p), heist::executor_error);
  CHECK_THROWS_AS(p.add(stage_mode::parallel, [](token&) {}), heist::executor_error);
  std::size_t seen = 0;
  p.add(stage_mode::serial, [&, own = std::make_unique<int>(10)](token& t) {
    if (t.number() == static_cast<std::size_t>(*own)) return t.stop();
    ++seen;
  });
  ex.run(p).get();
  CHECK(seen == 10);
  std::atomic<std::size_t> later{0};
  p.add(
      stage_mode::parallel,
      [&](heist::context c, token&) {
        auto [a, b] = c.fork_join([] { return 1u; }, [&] { return c.submit([] { return 2u; }).get(); });
        later += a + b;
      },
      "forks");
  ex.run(p).get();
  CHECK(later == 30);
  heist::task_graph g;
  g.emplace([&](heist::context c) { c.run(p).get(); });
  ex.run_n(g, 3).get();
  CHECK(later == 120);
  CHECK(seen == 50);
  CHECK_THROWS_AS(ex.run_n(p, 2), heist::executor_error);
  CHECK_THROWS_AS(heist::scalable_pipeline{0}, heist::executor_error);
  p.clear();
  CHECK_THROWS_AS(ex.run(p), heist::executor_error);
  p.add(stage_mode::serial, [&](token& t) { t.stop(); });
  ex.run(p).get();
}

TEST_CASE("scalable_pipeline: exceptions, stops, changes and second runs while it runs", "[dynamic]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  for (std::size_t stage = 0; stage != 3; ++stage) {
    bool throws = true;
    std::atomic<int> through{0};
    heist::scalable_pipeline p{3};
    for (std::size_t s = 0; s != 3; ++s) {
      p.add(s == 1 ? stage_mode::parallel : stage_mode::serial, [&, s](token& t) {
        if (s == 0 && t.number() == 100) return t.stop();
        if (throws && s == stage && t.number() == 50) throw std::runtime_error{"planned"};
        if (s == 2) ++through;
      });
    }
    CHECK_THROWS_WITH(ex.run(p).get(), "planned");
    CHECK(through <= 50);
    throws = false, through = 0;
    ex.run(p).get();
    CHECK(through == 100);
  }
  {
    std::atomic<int> begun{0};
    std::stop_source source, other;
    heist::scalable_pipeline p{2};
    p.add(stage_mode::serial, [&](token&) { ++begun; });
    auto run = ex.run(p, heist::with{.stop = source.get_token()});
    while (begun == 0) std::this_thread::yield();
    CHECK_THROWS_AS(ex.run(p), heist::executor_error);
    CHECK_THROWS_AS(p.add(stage_mode::serial, [](token&) {}), heist::executor_error);
    CHECK_THROWS_AS(p.clear(), heist::executor_error);
    source.request_stop();
    CHECK_THROWS_AS(run.get(), heist::stopped_error);
    begun = 0;
    static_cast<void>(ex.run(p, heist::with{.stop = other.get_token()}));
    while (begun == 0) std::this_thread::yield();
    other.request_stop();
  }  // waits for the run
  ex.wait_idle();
  for (bool const stops : {false, true}) {  // a stage after the first must not stop or defer
    heist::scalable_pipeline p{2};
    p.add(stage_mode::serial, [](token& t) {
      if (t.number() == 5) t.stop();
    });
    p.add(stage_mode::serial, [stops](token& t) { stops ? t.stop() : t.defer(7); });
    CHECK_THROWS_AS(ex.run(p).get(), heist::executor_error);
  }
}

namespace {

using order = std::vector<std::size_t>;

/// Token i waits for all of waits[i] when it comes first. Returns the order in which tokens leave the first stage.
order run_deferred(heist::executor_ref ex, std::size_t lines, std::vector<order> const& waits) {
  order left, last;
  heist::pipeline p{lines, heist::serial_stage([&](token& t) {
                      if (t.number() == waits.size()) return t.stop(), std::size_t{0};
                      if (t.deferrals() == 0) {
                        for (std::size_t const other : waits[t.number()]) t.defer(other);
                        if (!waits[t.number()].empty()) return std::size_t{0};
                      }
                      left.push_back(t.number());
                      return t.number();
                    }),
                    heist::parallel_stage([](std::size_t n) { return n; }),
                    heist::serial_stage([&](std::size_t n) { last.push_back(n); })};
  ex.run(p).get();
  CHECK(last == left);
  return left;
}

}  // namespace

TEST_CASE("token::defer: tokens that wait come after those that they wait for, and all come once", "[dynamic]") {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{ex, 100s};
    for (std::size_t const lines : {1u, 2u, 4u}) {
      CHECK(run_deferred(ex, lines, {{}, {4}, {}, {}, {}, {}}) == order{0, 2, 3, 4, 1, 5});
      CHECK(run_deferred(ex, lines, {{2}, {2}, {}}) == order{2, 0, 1});
      CHECK(run_deferred(ex, lines, {{3}, {0}, {1, 3}, {}}) == order{3, 0, 1, 2});
      CHECK(run_deferred(ex, lines, {{}, {0}, {0, 0, 1}}) == order{0, 1, 2});  // those have left already
      CHECK(run_deferred(ex, lines, {{1, 1, 1}, {}}) == order{1, 0});
      // All in reverse.
      std::size_t const n = 500;
      std::vector<order> reverse(n);
      for (std::size_t i = 0; i + 1 != n; ++i) reverse[i] = {i + 1};
      order const backwards = run_deferred(ex, lines, reverse);
      REQUIRE(backwards.size() == n);
      CHECK(std::is_sorted(backwards.rbegin(), backwards.rend()));
      // At random.
      std::uint64_t state = 88172645463325252u + lines;
      auto const random = [&state](std::size_t below) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        return static_cast<std::size_t>(state % below);
      };
      for (int seed = 0; seed != 20; ++seed) {
        std::vector<std::size_t> rank(60);  // a token waits only for tokens of lower rank
        for (std::size_t i = 0; i != rank.size(); ++i) rank[i] = random(1000);
        std::vector<order> waits(rank.size());
        for (std::size_t i = 0; i != rank.size(); ++i) {
          for (std::size_t k = random(4); k != 0; --k) {
            if (std::size_t const other = random(rank.size()); rank[other] < rank[i]) waits[i].push_back(other);
          }
        }
        order const left = run_deferred(ex, lines, waits);
        REQUIRE(left.size() == waits.size());
        std::vector<std::size_t> place(left.size());
        for (std::size_t i = 0; i != left.size(); ++i) place[left[i]] = i;
        std::size_t wrong = 0;
        for (std::size_t i = 0; i != waits.size(); ++i) {
          for (std::size_t const other : waits[i]) wrong += place[other] > place[i];
        }
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("token::defer: again and again, in both kinds of pipelines, and without deferrals in the next run",
          "[dynamic]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  bool defers = true;
  order left;
  std::size_t calls = 0;
  heist::scalable_pipeline p{3};
  std::vector<std::size_t> buffer(3);
  p.add(stage_mode::serial, [&](token& t) {
    ++calls;
    if (t.number() == 10) return t.stop();
    // 0 waits for 1, then for 2, ... then for 9.
    if (defers && t.number() == 0 && t.deferrals() < 9) return t.defer(t.deferrals() + 1);
    CHECK(t.deferrals() == (defers && t.number() == 0 ? 9 : 0));
    buffer[t.line()] = t.number();
  });
  p.add(stage_mode::serial, [&](token& t) {
    CHECK(buffer[t.line()] == t.number());
    left.push_back(t.number());
  });
  ex.run(p).get();
  CHECK(left == order{1, 2, 3, 4, 5, 6, 7, 8, 9, 0});
  CHECK(calls == 20);
  defers = false;
  left.clear();
  ex.run(p).get();
  CHECK(left == order{0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
}

TEST_CASE("token::defer: circles and tokens that do not come are refused, in one sentence", "[dynamic][bad input]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  CHECK_THROWS_WITH(run_deferred(ex, 2, {{0}}), Catch::Matchers::Contains("neither would ever come"));
  CHECK_THROWS_WITH(run_deferred(ex, 2, {{1}, {0}, {}}),
                    Catch::Matchers::Contains("token 1 of a pipeline is deferred"));
  CHECK_THROWS_WITH(run_deferred(ex, 2, {{3}, {0, 2}, {}, {1}}), Catch::Matchers::Contains("neither would ever come"));
  CHECK_THROWS_WITH(run_deferred(ex, 2, {{}, {7}, {}}), Catch::Matchers::Contains("the input has ended"));
  CHECK_THROWS_WITH(run_deferred(ex, 1, {{2}, {0}}), Catch::Matchers::Contains("the input has ended"));
  // A stage that catches the exception continues. The stage's earlier deferral stays in force.
  order left;
  heist::pipeline p{2, heist::serial_stage([&](token& t) {
                      if (t.number() == 3) return t.stop();
                      if (t.number() == 0 && t.deferrals() == 0) {
                        t.defer(2);
                        CHECK_THROWS_AS(t.defer(0), heist::executor_error);
                        return;
                      }
                      left.push_back(t.number());
                    })};
  ex.run(p).get();
  CHECK(left == order{1, 2, 0});
}

TEST_CASE("token::defer: with a stop, an exception, or the end of the input by a deferred token", "[dynamic]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  std::stop_source source;
  std::atomic<std::size_t> last{0};
  int mode = 0;
  heist::pipeline p{3, heist::serial_stage([&](token& t) {
                      last = t.number();
                      if (t.number() == 0 && t.deferrals() == 0) return t.defer(mode == 3 ? 2 : 5);
                      if (mode == 0 && t.number() == 4) source.request_stop();
                      if (mode == 1 && t.number() == 4) t.defer(6), throw std::runtime_error{"planned"};
                      if (mode == 2 && t.number() == 0) t.stop();    // a deferred token ends the input
                      if (mode == 3 && t.number() == 1) t.defer(0);  // 1 waits for 0, 0 for 2
                      if (mode == 3 && t.number() == 2) t.defer(3), t.stop();
                      if (mode == 4 && t.number() == 4) t.defer(8), t.stop();  // 0 waits for 5 for ever
                    })};
  CHECK_THROWS_AS(ex.run(p, heist::with{.stop = source.get_token()}).get(), heist::stopped_error);
  mode = 1;
  CHECK_THROWS_WITH(ex.run(p).get(), "planned");
  mode = 2;
  ex.run(p).get();
  CHECK(last == 0);
  mode = 3;
  CHECK_THROWS_WITH(ex.run(p).get(), Catch::Matchers::Contains("the input has ended"));
  mode = 4;
  CHECK_THROWS_WITH(ex.run(p).get(), Catch::Matchers::Contains("the input has ended"));
  {  // a stop from outside while tokens wait; the run's handle is dropped
    std::stop_source other;
    std::atomic<bool> begun{false};
    heist::pipeline endless{2, heist::serial_stage([&](token& t) {
                              begun = true;
                              if (t.number() % 2 == 0 && t.deferrals() == 0) t.defer(t.number() + 1);
                            })};
    static_cast<void>(ex.run(endless, heist::with{.stop = other.get_token()}));
    while (!begun) std::this_thread::yield();
    other.request_stop();
  }
  ex.wait_idle();
}

TEST_CASE("pipelines: deferred tokens and run-time stages under policies with squads and with child-first order",
          "[dynamic]") {
  auto const all_in_order = [](heist::executor_ref ex) {
    CHECK(run_deferred(ex, 4, {{}, {4}, {}, {}, {}, {}}) == order{0, 2, 3, 4, 1, 5});
    heist::scalable_pipeline p{4};
    std::size_t n = 0;
    p.add(stage_mode::serial, [](token& t) {
      if (t.number() == 100) t.stop();
    });
    p.add(stage_mode::parallel, [](heist::context c, token&) { c.fork_join([] {}, [] {}); });
    p.add(stage_mode::serial, [&](token&) { ++n; });
    ex.run(p).get();
    CHECK(n == 100);
  };
  heist::executor<heist::policy::with_order<heist::policy::random, heist::order::child_first>> child_first{2};
  all_in_order(child_first);
  heist::executor<heist::policy::cab> cab{2};
  all_in_order(cab);
}
