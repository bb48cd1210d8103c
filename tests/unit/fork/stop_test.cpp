// submit() and invoke() with a std::stop_token: tasks that have not started are skipped. Running tasks see the stop,
// and so do their children.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "heist/fork_join.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"
#include "unit/fork/every_policy.hpp"

using namespace std::chrono_literals;
using heist_test::both_orders;
using heist_test::every_policy;
using heist_test::slow;

TEMPLATE_LIST_TEST_CASE("stop: a task whose token has been stopped before is skipped", "[fork]", both_orders) {
  heist::executor<TestType> ex{2};
  heist_test::watchdog guard{ex, 60s, "stopped before"};
  std::stop_source source;
  source.request_stop();
  std::atomic<bool> ran{false};
  auto const task = [&] { ran = true; };
  auto f = ex.submit(heist::with{.stop = source.get_token()}, task);
  CHECK_THROWS_AS(f.get(), heist::stopped_error);
  auto with_result = ex.submit(heist::with{.stop = source.get_token()}, [&](heist::context) {
    ran = true;
    return std::string{"never"};
  });
  CHECK_THROWS_AS(with_result.get(), heist::stopped_error);
  CHECK_THROWS_AS(ex.invoke(heist::with{.stop = source.get_token()}, task), heist::stopped_error);
  CHECK_THROWS_AS(ex.invoke([&](auto ctx) { ctx.submit(heist::with{.stop = source.get_token()}, task).get(); }),
                  heist::stopped_error);
  CHECK_FALSE(ran);
  CHECK(ex.invoke([] { return 1; }) == 1);
}

TEMPLATE_LIST_TEST_CASE("stop: a task that waits for its turn is skipped when stop is requested", "[fork]",
                        both_orders) {
  heist::executor<TestType> ex{1};
  heist_test::watchdog guard{ex, 60s, "stopped in the queue"};
  for (int round = 0; round < (slow ? 10 : 100); ++round) {
    std::stop_source source;
    std::atomic<bool> started{false}, over{false};
    auto blocker = ex.submit([&] {
      started = true;
      while (!over) std::this_thread::yield();
    });
    while (!started) std::this_thread::yield();
    std::atomic<int> ran{0};
    std::vector<heist::future<void>> all;
    for (int i = 0; i < 10; ++i) all.push_back(ex.submit(heist::with{.stop = source.get_token()}, [&] { ++ran; }));
    auto other = ex.submit([&] { ran += 100; });
    source.request_stop();
    over = true;
    for (auto& f : all) CHECK_THROWS_AS(f.get(), heist::stopped_error);
    other.get();
    blocker.get();
    CHECK(ran == 100);
  }
}

namespace {

/// Two tasks that run at the same time; the second to come requests stop, and both resume when they are told.
struct told {
  std::stop_source source{};
  std::atomic<int> here{0};
  std::atomic<int> seen{0};

  template <class Context>
  void operator()(Context c) {
    if (c.stop_requested()) return;  // too early: seen stays too low
    if (++here == 2) source.request_stop();
    while (!c.stop_requested()) std::this_thread::yield();
    ++seen;
  }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("stop: the tasks that a stopped one has forked are told, in place and stolen", "[fork]",
                        every_policy) {
  heist::executor<TestType> ex{2};
  heist_test::watchdog guard{ex, 60s, "stopped while they run"};
  for (int round = 0; round < (slow ? 10 : 100); ++round) {
    told t;
    bool after = false;
    int const r = ex.invoke(heist::with{.stop = t.source.get_token()}, [&](auto ctx) {
      ctx.fork_join([&](auto c) { t(c); }, [&](auto c) { t(c); });
      after = ctx.stop_requested();
      // A task that has begun runs to its end, and so do those it forks: it is for them to look.
      auto const [a, b] =
          ctx.fork_join([](auto c) { return c.stop_requested(); }, [](heist::context c) { return c.stop_requested(); });
      return a && b ? 5 : 0;
    });
    REQUIRE(r == 5);
    REQUIRE(t.seen == 2);
    REQUIRE(after);
  }
}

TEMPLATE_LIST_TEST_CASE("stop: descendants of descendants are told", "[fork]", every_policy) {
  heist::executor<TestType> ex{2};
  heist_test::watchdog guard{ex, 60s, "stopped descendants"};
  for (int round = 0; round < (slow ? 10 : 100); ++round) {
    told t;
    std::atomic<int> below{0};
    ex.invoke(heist::with{.stop = t.source.get_token()}, [&](auto ctx) {
      auto const branch = [&](auto c) {
        t(c);
        c.fork_join([&](auto d) { d.fork_join([&](auto e) { below += e.stop_requested(); }, [] {}); },
                    [&](auto d) { below += d.stop_requested(); },
                    [&](auto d) {
                      heist::scope s{d};
                      for (int i = 0; i < 4; ++i) s.fork([&](auto e) { below += e.stop_requested(); });
                    });
      };
      ctx.fork_join(branch, branch);
    });
    REQUIRE(t.seen == 2);
    REQUIRE(below == 12);
  }
}

TEMPLATE_LIST_TEST_CASE("stop: the children of a scope are told", "[fork]", every_policy) {
  heist::executor<TestType> ex{2};
  heist_test::watchdog guard{ex, 60s, "stopped children"};
  for (int round = 0; round < (slow ? 10 : 100); ++round) {
    told t;
    ex.submit(heist::with{.stop = t.source.get_token()}, [&](auto ctx) {
        heist::scope s{ctx};
        s.fork([&](auto c) { t(c); });
        s.fork([&](auto c) { t(c); });
      }).get();
    REQUIRE(t.seen == 2);
  }
}

TEMPLATE_LIST_TEST_CASE("stop: forks without a context inside a task that takes none are told", "[fork]",
                        every_policy) {
  heist::executor<TestType> ex{2};
  heist_test::watchdog guard{ex, 60s, "stopped without a context"};
  std::stop_source source;
  bool const seen = ex.invoke(heist::with{.stop = source.get_token()}, [&source] {
    auto const look = [](heist::context c) { return c.stop_requested(); };
    auto const [a, b] = heist::fork_join(look, look);
    source.request_stop();
    auto const [c, d] = heist::fork_join(look, look);
    return !a && !b && c && d;
  });
  CHECK(seen);
}

TEMPLATE_LIST_TEST_CASE("stop: a token that never stops, or that nobody can stop, changes nothing", "[fork]",
                        every_policy) {
  heist::executor<TestType> ex{2};
  heist_test::watchdog guard{ex, 60s, "never stopped"};
  std::stop_source source;
  for (auto const& token : {source.get_token(), std::stop_token{}}) {
    for (int round = 0; round < (slow ? 10 : 100); ++round) {
      int const r = ex.invoke(heist::with{.stop = token}, [](auto ctx) {
        auto const [a, b] = ctx.fork_join([](auto c) { return c.stop_requested() ? 100 : 1; },
                                          [](auto c) { return c.stop_requested() ? 100 : 2; });
        return a + b + (ctx.stop_requested() ? 100 : 0);
      });
      REQUIRE(r == 3);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("stop: what runs afterwards on the same workers is not stopped", "[fork]", every_policy) {
  heist::executor<TestType> ex{2};
  heist_test::watchdog guard{ex, 60s, "after a stopped one"};
  for (int round = 0; round < (slow ? 10 : 100); ++round) {
    told t;
    std::atomic<int> stopped_outside{0};
    auto beside = ex.submit([&](auto ctx) {
      for (int i = 0; i < 20; ++i) {
        ctx.fork_join([&](auto c) { stopped_outside += c.stop_requested(); },
                      [&](auto c) { stopped_outside += c.stop_requested(); });
      }
    });
    ex.invoke(heist::with{.stop = t.source.get_token()},
              [&](auto ctx) { ctx.fork_join([&](auto c) { t(c); }, [&](auto c) { t(c); }); });
    beside.get();
    for (int i = 0; i < 10; ++i) {
      ex.invoke([&](auto ctx) {
        ctx.fork_join([&](auto c) { stopped_outside += c.stop_requested(); },
                      [&](auto c) { stopped_outside += c.stop_requested(); });
        stopped_outside += ctx.stop_requested();
      });
    }
    ex.invoke([&] {
      heist::fork_join([&](heist::context c) { stopped_outside += c.stop_requested(); },
                       [&](heist::context c) { stopped_outside += c.stop_requested(); });
    });
    REQUIRE(stopped_outside == 0);
  }
}

namespace {

/// How many of two children, in one round of forks, are told.
template <class Context>
int forks_until_stopped(Context ctx, std::atomic<bool>& started) {
  started = true;
  auto const told = [](Context c) { return c.stop_requested() ? 1 : 0; };
  auto const [a, b] = ctx.fork_join(told, told);
  return a + b;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("stop: requested from outside while a task forks again and again", "[fork]", both_orders) {
  heist::executor<TestType> ex{4};
  heist_test::watchdog guard{ex, 60s, "stopped from outside"};
  for (int round = 0; round < (slow ? 5 : 30); ++round) {
    std::stop_source source;
    std::atomic<bool> started{false};
    auto f = ex.submit(heist::with{.stop = source.get_token()}, [&](auto ctx) {
      while (forks_until_stopped(ctx, started) == 0) {
      }
      return true;
    });
    while (!started) std::this_thread::yield();
    source.request_stop();
    REQUIRE(f.get());
  }
}
