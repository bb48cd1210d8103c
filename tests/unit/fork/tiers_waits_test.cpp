// Tasks of regions that wait: for futures, for other regions, and under guards that keep them on their thread. Also
// every way to idle and to join.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <vector>

#include "heist/core/executor/no_migrate.hpp"
#include "heist/coroutine.hpp"
#include "heist/graph.hpp"
#include "heist/region.hpp"
#include "heist/tiers.hpp"
#include "support/wait_for.hpp"
#include "support/yield.hpp"
#include "unit/fork/tiers.hpp"

using namespace std::chrono_literals;
using heist::region;
using heist_test::all_free;
using heist_test::fib;
using heist_test::slow;
using heist_test::tiered_policies;
using heist_test::works;

namespace {

std::array<heist::options, 4> machines() {
  return {heist_test::two_by_two(), heist_test::four_by_four(), heist_test::one_worker_each(), heist_test::one_squad()};
}

constexpr std::uint32_t depth = 4;

/// Calls `f(context)` in every task of a full binary tree of `depth` levels, before and after it forks.
template <class Context, class F>
long at_all_places(Context c, F const& f, std::uint32_t level = 1) {
  f(c);
  if (level == depth) return 1;
  auto const [a, b] = c.fork_join([&](Context d) { return at_all_places(d, f, level + 1); },
                                  [&](Context d) { return at_all_places(d, f, level + 1); });
  f(c);
  return a + b;
}

/// The same by hand: inter-squad tasks down to level `boundary`.
template <class Context, class F>
long by_hand(Context c, F const& f, std::uint32_t boundary, std::uint32_t level = 1) {
  if (level >= boundary) return at_all_places(c, f, level);
  f(c);
  auto const [a, b] = c.inter_fork([&](Context d) { return by_hand(d, f, boundary, level + 1); },
                                   [&](Context d) { return by_hand(d, f, boundary, level + 1); });
  f(c);
  return a + b;
}

/// Runs it with each boundary level, by level and by hand.
template <class Executor, class F>
void in_each_tier(Executor& ex, int rounds, F const& f) {
  for (int round = 0; round < rounds; ++round) {
    for (std::uint32_t boundary = 0; boundary <= depth; ++boundary) {
      region by_level{{.boundary_level = boundary}};
      for (int again = 0; again < 2; ++again)
        CHECK(ex.invoke(by_level, [&](auto c) { return at_all_places(c, f); }) == 8);
      region hand{{.tiers_by_hand = true}};
      CHECK(ex.invoke(hand, [&](auto c) { return by_hand(c, f, boundary); }) == 8);
      CHECK(all_free(ex));
    }
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("tiers: futures waited for in every kind of frame", "[fork]", tiered_policies) {
  for (auto const& machine : machines()) {
    heist::executor<TestType> ex{machine};
    heist_test::watchdog guard{ex, 60s};
    in_each_tier(ex, slow ? 1 : 5, [](auto c) {
      auto plain = c.submit([] {
        heist_test::yield();
        return 1;
      });
      auto forking = c.submit([](auto d) { return fib(d, 5); });
      if (plain.get() + forking.get() != 6) throw 1;
    });
  }
}

TEMPLATE_LIST_TEST_CASE("tiers: futures whose tasks are in another executor, or end late", "[fork]", tiered_policies) {
  heist::executor<TestType> ex{heist_test::two_by_two()};
  heist::executor<TestType> other{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  guard.watch(other);
  in_each_tier(ex, slow ? 1 : 5, [&](auto) {
    region r{{.boundary_level = 2}};
    if (other.invoke(r, [](auto d) { return fib(d, 5); }) != 5) throw 1;
  });
  CHECK(all_free(other));
}

#if HEIST_COROUTINES
TEMPLATE_LIST_TEST_CASE("tiers: coroutines that resume in other squads and executors", "[fork]", tiered_policies) {
  for (auto const& machine : machines()) {
    heist::executor<TestType> ex{machine};
    heist::executor<TestType> other{heist_test::two_by_two()};
    heist_test::watchdog guard{ex, 60s};
    guard.watch(other);
    auto const goes = [](heist::executor<TestType>& scheduler,
                         heist::executor<TestType>& away) -> heist::coroutine<long> {
      long sum = co_await away.submit([] {
        heist_test::yield();
        return 1;
      });
      sum += away.submit([](auto d) { return fib(d, 4); }).get();
      co_await heist::resume_on(scheduler);
      sum += scheduler.submit([](auto d) { return fib(d, 4); }).get();
      co_return sum;
    };
    in_each_tier(ex, slow ? 1 : 2, [&](auto) {
      if (heist::sync_wait(goes(ex, other)) != 7) throw 1;
    });
    CHECK(all_free(other));
  }
}

TEMPLATE_LIST_TEST_CASE("tiers: a stop reaches what a coroutine of a region waits for", "[fork]", tiered_policies) {
  heist::executor<TestType> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  std::atomic<int> begun{0};
  auto const until_stopped = [&](auto c) {
    ++begun, begun.notify_all();
    while (!c.stop_requested()) heist_test::yield();
  };
  auto const awaits = [](auto& on, auto const& f) -> heist::coroutine<int> {
    co_await on.submit(f);      // the first of these is started where the region's task runs
    co_await on.submit([] {});  // the others where the coroutine resumes
    on.submit(f).get();
    co_await on.submit(f);
    co_return 1;
  };
  for (std::uint32_t const boundary : {0u, 2u}) {
    begun = 0;
    heist::task_graph g;
    g.emplace([&] {
      region r{{.boundary_level = boundary}};
      CHECK(ex.invoke(r, [&](auto) { return heist::sync_wait(awaits(ex, until_stopped)); }) == 1);
    });
    auto run = ex.run(g);
    begun.wait(0);
    run.request_stop();
    run.wait();
    CHECK(begun == 3);
  }
  CHECK(all_free(ex));
}
#endif

TEMPLATE_LIST_TEST_CASE("tiers: runs of graphs waited for in every kind of frame", "[fork]", tiered_policies) {
  for (auto const& machine : machines()) {
    heist::executor<TestType> ex{machine};
    heist_test::watchdog guard{ex, 60s};
    in_each_tier(ex, slow ? 1 : 3, [](auto c) {
      heist::task_graph g;
      std::atomic<int> n{0};
      auto a = g.emplace([&] { ++n; });
      auto b = g.emplace([&](heist::context d) { n += static_cast<int>(fib(d, 4)); });
      a.precede(b);
      c.run(g).wait();
      if (n != 4) throw 1;
    });
  }
}

TEMPLATE_LIST_TEST_CASE("tiers: regions in asyncs of a region", "[fork]", tiered_policies) {
  for (auto const& machine : machines()) {
    heist::executor<TestType> ex{machine};
    heist_test::watchdog guard{ex, 60s};
    for (std::uint32_t const inner : {0u, 1u, 2u, 3u}) {
      in_each_tier(ex, slow ? 1 : 2, [inner](auto c) {
        auto f = c.submit([inner](auto d) {
          region r{{.boundary_level = inner}};
          return d.invoke(r, [](auto e) { return fib(e, 4); });
        });
        if (f.get() != 3) throw 1;
      });
    }
  }
}

TEMPLATE_LIST_TEST_CASE("tiers: regions in asyncs that nobody waits for", "[fork]", tiered_policies) {
  for (auto const& machine : machines()) {
    heist::executor<TestType> ex{machine};
    heist_test::watchdog guard{ex, 60s};
    for (int round = 0; round < (slow ? 2 : 10); ++round) {
      std::atomic<long> n{0};
      region r{{.boundary_level = 2}};
      ex.invoke(r, [&](auto c) {
        at_all_places(c, [&](auto d) {
          static_cast<void>(d.submit([&](auto e) {
            region inner{{.boundary_level = 2}};
            n += e.invoke(inner, [](auto g) { return fib(g, 4); });
          }));
        });
      });
      ex.wait_idle();
      CHECK(n == 3 * 22);
      CHECK(all_free(ex));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("tiers: no_migrate guards in every kind of frame", "[fork]", tiered_policies) {
  for (auto const& machine : machines()) {
    heist::executor<TestType> ex{machine};
    heist_test::watchdog guard{ex, 60s};
    std::atomic<int> wrong{0};
    // In some tasks, for as long as they run a fork, a scope and a wait.
    in_each_tier(ex, slow ? 1 : 5, [&](auto c) {
      heist::no_migrate const stay;
      std::size_t const here = c.worker_id();
      auto const [a, b] = c.fork_join([](auto d) { return fib(d, 4); }, [](auto d) { return fib(d, 3); });
      wrong += c.worker_id() != here || a + b != 5;
      {
        heist::scope s{c};
        for (int i = 0; i < 5; ++i) s.fork([](auto d) { fib(d, 3); });
      }
      wrong += c.worker_id() != here;
      c.submit([] { heist_test::yield(); }).get();
      wrong += c.worker_id() != here;
    });
    CHECK(wrong == 0);
    CHECK(works(ex));
  }
}

TEMPLATE_LIST_TEST_CASE("tiers: guards around a whole tree", "[fork]", tiered_policies) {
  heist::executor<TestType> ex{heist_test::four_by_four()};
  heist_test::watchdog guard{ex, 60s};
  for (std::uint32_t const boundary : {1u, 2u, 3u}) {
    region r{{.boundary_level = boundary}};
    for (int round = 0; round < (slow ? 5 : 30); ++round) {
      CHECK(ex.invoke(r, [](auto body) {
        auto const down = [](auto self, auto c, int left) -> long {
          heist::no_migrate const stay;
          std::size_t const here = c.worker_id();
          if (left == 0) return 1;
          auto const [a, b] = c.fork_join([&](auto d) { return self(self, d, left - 1); },
                                          [&](auto d) { return self(self, d, left - 1); });
          return c.worker_id() == here ? a + b : -100;
        };
        return down(down, body, 5);
      }) == 32);
      CHECK(all_free(ex));
    }
  }
  CHECK(works(ex));
}

TEMPLATE_LIST_TEST_CASE("tiers: a guard where a region is entered", "[fork]", tiered_policies) {
  for (auto const& machine : machines()) {
    heist::executor<TestType> ex{machine};
    heist_test::watchdog guard{ex, 60s};
    for (int round = 0; round < (slow ? 5 : 50); ++round) {
      bool const same = ex.invoke([](auto c) {
        heist::no_migrate const stay;
        std::size_t const here = c.worker_id();
        region r{{.boundary_level = 2}};
        return c.invoke(r, [](auto d) { return fib(d, 6); }) == 8 && c.worker_id() == here;
      });
      CHECK(same);
    }
  }
}

TEMPLATE_LIST_TEST_CASE("tiers: scopes in every kind of frame, empty, joined twice, or waiting in between", "[fork]",
                        tiered_policies) {
  for (auto const& machine : machines()) {
    heist::executor<TestType> ex{machine};
    heist_test::watchdog guard{ex, 60s};
    in_each_tier(ex, slow ? 1 : 3, [](auto c) {
      std::atomic<long> n{0};
      heist::scope s{c};
      s.join();
      for (int i = 0; i < 9; ++i) s.fork([&](auto d) { n += fib(d, 4); });
      // While the frame waits for one child, the children that no worker has started must not be lost.
      heist::detail::completion ran;
      s.fork([&] { ran.complete(); });
      c.submit([&] { heist_test::wait_for(ran); }).get();
      s.join();
      if (n != 27) throw 1;
      {
        heist::scope inner{c};
        for (int i = 0; i < 3; ++i) {
          inner.fork([&](auto d) {
            heist::scope innermost{d};
            for (int k = 0; k < 3; ++k) innermost.fork([&](auto e) { n += fib(e, 2); });
          });
        }
        s.fork([&] { ++n; });
      }
      s.join();
      if (n != 37) throw 1;
    });
  }
}

TEST_CASE("tiers: scopes that end in another order than they got their first children", "[fork]") {
  heist::executor<heist::policy::cab> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  heist::region r{{.branching = 2, .bytes = std::size_t{64} << 20, .boundary_level = 3}};
  std::atomic<int> ran{0};
  ex.invoke(r, [&](auto ctx) {
    heist::scope outer{ctx};
    {
      heist::scope inner{ctx};
      inner.fork([&ran] { ++ran; });
      outer.fork([&ran] { ++ran; });
    }
    ctx.submit([] {}).get();  // a waiting task starts the children of all remaining scopes
    outer.join();
  });
  CHECK(ran == 2);
}

TEST_CASE("tiers: a scope with more children than are kept waiting", "[fork]") {
  heist::executor<heist::policy::cab> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  for (std::uint32_t const boundary : {0u, 1u, 2u, 3u}) {
    region r{{.boundary_level = boundary}};
    CHECK(ex.invoke(r, [](auto c) {
      std::atomic<long> n{0};
      heist::scope s{c};
      for (int i = 0; i < 10'000; ++i) s.fork([&] { ++n; });
      s.join();
      return n.load();
    }) == 10'000);
    CHECK(all_free(ex));
  }
}

namespace {

template <class Policy>
void variant() {
  for (auto const& machine : machines()) {
    heist::executor<Policy> ex{machine};
    heist_test::watchdog guard{ex, 60s};
    in_each_tier(ex, slow ? 1 : 3, [](auto c) {
      // A join that keeps its worker may wait for ever where tasks wait for futures.
      if (Policy::join_type::strategy == heist::join_strategy::park && c.submit([] { return 1; }).get() != 1) throw 1;
    });
    for (int round = 0; round < (slow ? 2 : 20); ++round) {
      region r{{.branching = 2, .bytes = 4 << 20}};
      auto const kernel = [](auto c) {
        std::atomic<long> n{0};
        heist::scope s{c};
        for (int i = 0; i < 20; ++i) s.fork([&](auto d) { n += fib(d, 4); });
        s.join();
        return n + fib(c, 6);
      };
      CHECK(ex.invoke(r, kernel) == 68);
      CHECK(ex.invoke(r, kernel) == 68);
      CHECK(ex.invoke(kernel) == 68);
    }
    CHECK(all_free(ex));
  }
}

template <class Idle>
using cab_idle = heist::policy::with_idle<heist::policy::cab, Idle>;
template <class Idle>
using cats_idle = heist::policy::with_idle<heist::policy::cats, Idle>;
template <class Join>
using cab_join = heist::policy::with_join<heist::policy::cab, Join>;
template <class Join>
using cats_join = heist::policy::with_join<heist::policy::cats, Join>;

using some = std::tuple<cab_idle<heist::idle::adaptive>, cats_idle<heist::idle::spinning>,
                        cab_join<heist::join::leapfrog>, cats_join<heist::join::spin>>;
using all = std::tuple<cab_idle<heist::idle::adaptive>, cab_idle<heist::idle::bws>, cab_idle<heist::idle::spinning>,
                       cab_idle<heist::idle::standard>, cats_idle<heist::idle::adaptive>, cats_idle<heist::idle::bws>,
                       cats_idle<heist::idle::spinning>, cab_join<heist::join::leapfrog>, cab_join<heist::join::spin>,
                       cats_join<heist::join::leapfrog>, cats_join<heist::join::spin>>;
using variants = std::conditional_t<slow, some, all>;  // as tiered_policies

}  // namespace

TEMPLATE_LIST_TEST_CASE("tiers: with every idle policy and every way to join", "[fork]", variants) {
  variant<TestType>();
}
