// heist/tools/measure/work_span.hpp: exact figures on a clock that only leaves move, and sane ones on a real clock.
#include "heist/tools/measure/work_span.hpp"
#include "heist/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>

#include "heist/executor.hpp"
#include "support/catch.hpp"
#include "support/leaf_clock.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;
using heist::measure_work_span;
using heist::work_span_profile;
using heist_test::leaf_clock;
using heist_test::work;

namespace {

/// Calls f(executor) for both orders, parking and leap-frogging, on one worker and on two.
template <class F>
void at_all_places(F f) {
  auto const with = [&]<class Policy>(char const* name, Policy) {
    for (std::size_t const workers : {1u, 2u}) {
      INFO(name << ", " << workers << " workers");
      heist::executor<Policy> ex{workers};
      heist_test::watchdog guard{ex, 60s, name};
      f(ex);
    }
  };
  using heist::policy::random;
  with("parent first", heist::policy::with_order<random, heist::order::parent_first>{});
  with("child first", heist::policy::with_order<random, heist::order::child_first>{});
  with("leapfrog", heist::policy::with_join<random, heist::join::leapfrog>{});
}

template <class Executor, class F>
auto measured(Executor& ex, F f, std::uint64_t steal_cost = 0) {
  return measure_work_span<leaf_clock>(ex, f, {.steal_cost = steal_cost});
}

/// 2^height leaves of `size`, and one tick at each node before and after its fork.
template <class Context>
std::uint64_t tree(Context ctx, int height, std::uint64_t size) {
  if (height == 0) {
    work(size);
    return 1;
  }
  work(1);
  auto const [a, b] = ctx.fork_join([=](Context c) { return tree(c, height - 1, size); },
                                    [=](auto c) { return tree(c, height - 1, size); });
  work(1);
  return a + b;
}

template <class Context>
long fib(Context ctx, int n) {
  if (n < 2) return n;
  auto const [a, b] = ctx.fork_join([=](Context c) { return fib(c, n - 1); }, [=](Context c) { return fib(c, n - 2); });
  return a + b;
}

struct lost : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace

TEST_CASE("work_span: no fork, one strand", "[work_span]") {
  at_all_places([](auto& ex) {
    auto const m = measured(
        ex, [](auto) { return work(7), 42; }, 1000);
    CHECK(m.result == 42);
    CHECK(m.profile == work_span_profile{7, 7, 7, 0, 1, 1000});
    CHECK(m.profile.parallelism() == 1);
    auto const plain = measured(ex, [] { work(3); });
    static_assert(std::is_same_v<decltype(plain.result), std::monostate>);
    CHECK(plain.profile == work_span_profile{3, 3, 3, 0, 1, 0});
  });
}

TEST_CASE("work_span: balanced trees have exactly the figures of paper and pencil", "[work_span]") {
  at_all_places([](auto& ex) {
    constexpr int height = 10;
    constexpr std::uint64_t leaves = 1 << height, size = 100, inner = leaves - 1;
    auto const m = measured(
        ex, [](auto ctx) { return tree(ctx, height, size); }, 30);
    CHECK(m.result == leaves);
    CHECK(m.profile.work == leaves * size + 2 * inner);
    CHECK(m.profile.span == size + 2 * height);
    CHECK(m.profile.burdened_span == size + (2 + 30) * height);  // a steal at every level
    CHECK(m.profile.tasks == inner);
    CHECK(m.profile.strands == leaves + 2 * inner);
  });
}

TEST_CASE("work_span: a join at which a steal would not pay is counted in sequence", "[work_span]") {
  at_all_places([](auto& ex) {
    // Two leaves of 100 take 202 one after the other, and 102 + 500 with a steal. Four leaves take 406 against 704, and
    // eight take 814 against 908. From sixteen leaves on, the steal pays: 814 + 500 + 2 for each further doubling.
    auto const burdened = [&](int height) {
      auto const m = measured(
          ex, [=](auto ctx) { return tree(ctx, height, 100); }, 500);
      CHECK(m.profile.span == 100 + 2 * static_cast<std::uint64_t>(height));
      return m.profile.burdened_span;
    };
    CHECK(burdened(1) == 202);
    CHECK(burdened(2) == 406);
    CHECK(burdened(3) == 814);
    CHECK(burdened(4) == 814 + 502);
    CHECK(burdened(5) == 814 + 2 * 502);
    // With no cost it is the span; with a huge one, all work.
    auto const free = measured(
                          ex, [](auto ctx) { return tree(ctx, 6, 9); }, 0)
                          .profile;
    CHECK(free.burdened_span == free.span);
    auto const expensive = measured(
                               ex, [](auto ctx) { return tree(ctx, 6, 9); }, 1'000'000'000)
                               .profile;
    CHECK(expensive.burdened_span == expensive.work);
  });
}

TEST_CASE("work_span: any number of children, of which the first is the parent's own", "[work_span]") {
  at_all_places([](auto& ex) {
    auto const m = measured(
        ex,
        [](auto ctx) {
          work(5);
          int x = 0;
          auto r = ctx.fork_join([] { work(1); }, [&](auto) -> int& { return work(40), x; },
                                 [](auto) { return work(7), std::make_unique<int>(3); }, [] { return work(2), 'd'; });
          static_assert(std::is_same_v<decltype(r), std::tuple<std::monostate, int&, std::unique_ptr<int>, char>>);
          work(6);
          return &std::get<1>(r) == &x && *std::get<2>(r) == 3 && std::get<3>(r) == 'd';
        },
        8);
    CHECK(m.result);
    CHECK(m.profile == work_span_profile{61, 51, 59, 3, 6, 8});
    auto const longest_first = measured(
        ex, [](auto ctx) { ctx.fork_join([] { work(40); }, [] { work(30); }, [] { work(1); }); }, 8);
    CHECK(longest_first.profile == work_span_profile{71, 40, 40, 2, 5, 8});  // its own child pays for no steal
    auto const alone = measured(
        ex, [](auto ctx) { ctx.fork_join([](auto) { work(4); }); }, 8);
    CHECK(alone.profile == work_span_profile{4, 4, 4, 0, 3, 8});
  });
}

TEST_CASE("work_span: a chain of forks has no parallelism", "[work_span]") {
  at_all_places([](auto& ex) {
    auto const m = measured(ex, [](auto ctx) {
      for (int i = 0; i < 500; ++i) ctx.fork_join([](auto) { work(10); }, [] {});
    });
    CHECK(m.profile == work_span_profile{5000, 5000, 5000, 500, 501 + 1000, 0});
    CHECK(m.profile.parallelism() == 1);
  });
}

TEST_CASE("work_span: exceptions go through and lose no time", "[work_span]") {
  at_all_places([](auto& ex) {
    auto const m = measured(ex, [](auto ctx) {
      std::string what;
      try {
        ctx.fork_join([](auto) { work(3); },
                      [](auto c) {
                        c.fork_join([](auto) { work(5), throw lost{"second"}; }, [] { work(100); });
                        work(1000);
                      },
                      [] { work(7), throw lost{"third"}; });
      } catch (lost const& e) {
        what = e.what();
        work(2);
      }
      return what;
    });
    CHECK(m.result == "second");
    CHECK(m.profile == work_span_profile{117, 102, 102, 3, 8, 0});
    CHECK_THROWS_AS(measured(ex, [](auto ctx) { ctx.fork_join([] {}, [] { throw lost{"all"}; }); }), lost);
  });
}

TEST_CASE("work_span: the children of a scope start where they are forked", "[work_span]") {
  at_all_places([](auto& ex) {
    auto const m = measured(
        ex,
        [](auto ctx) {
          heist::scope s{ctx};
          work(10);
          s.fork([](auto c) { work(50), tree(c, 1, 4); });  // from 10 to 66
          work(20);
          s.fork([] { work(45); });  // from 30 to 75
          work(30);                  // to 60
          s.join();                  // at 75
          work(1);
          s.fork([] { work(8); });  // joined by the destructor
          work(2);
        },
        5);
    // 10 + 20 + 30 + 1 + 2 of its own; 60, 45 and 8 of the children.
    CHECK(m.profile.work == 176);
    CHECK(m.profile.span == 75 + 1 + 8);
    // The tree in sequence: 50 + 1 + 4 + 4 + 1 = 60. The second child: 30 + 5 + 45 = 80. The third: 81 + 5 + 8, in
    // sequence 81 + 2 + 8.
    CHECK(m.profile.burdened_span == 91);
    CHECK(m.profile.tasks == 4);
    CHECK_THROWS_AS(measured(ex,
                             [](auto ctx) {
                               typename decltype(ctx)::scope s{ctx};
                               s.fork([] { work(1), throw lost{"child"}; });
                             }),
                    lost);
    auto const after = measured(ex, [](auto ctx) {
      heist::scope s{ctx};
      s.fork([] { work(4), throw lost{"child"}; });
      try {
        s.join();
      } catch (lost const&) {
        work(3);
      }
    });
    CHECK(after.profile.work == 7);
    CHECK(after.profile.span == 7);
  });
}

TEST_CASE("work_span: many children of one scope, on whichever worker they run", "[work_span]") {
  at_all_places([](auto& ex) {
    constexpr std::uint64_t children = 5000;
    auto const m = measured(ex, [](auto ctx) {
      heist::scope s{ctx};
      for (std::uint64_t i = 1; i <= children; ++i) {
        work(1);
        s.fork([i](auto c) { c.fork_join([=](auto) { work(i); }, [] { work(1); }); });
      }
    });
    CHECK(m.profile.work == children + children * (children + 1) / 2 + children);
    CHECK(m.profile.span == 2 * children);  // the last child starts last and is the longest
    CHECK(m.profile.tasks == 2 * children);
  });
}

TEST_CASE("work_span: what the wrapped context knows", "[work_span]") {
  at_all_places([](auto& ex) {
    std::stop_source stop;
    auto const m = measured(ex, [&](auto ctx) {
      bool const here = ctx.worker_id() < ex.worker_count() && ctx.squad_id() < ex.squad_count();
      auto submitted = ctx.submit(heist::with{.stop = stop.get_token()}, [](decltype(ctx) c) {
        c.fork_join([] { work(100); }, [] {});
        return c.stop_requested() ? 1 : 2;
      });
      auto plain = ctx.submit([] { return 40; });
      return here && !ctx.stop_requested() ? submitted.get() + plain.get() : 0;
    });
    CHECK(m.result == 42);
    using context = typename std::remove_reference_t<decltype(ex)>::context_type;
    using anywhere = heist::work_span_context<heist::context, leaf_clock>;
    static_assert(std::is_convertible_v<heist::work_span_context<context, leaf_clock>, anywhere>);
    auto const named = measured(ex, [](anywhere c) { return tree(c, 3, 5); });
    CHECK(named.profile.span == 11);
  });
}

TEST_CASE("work_span: bounds of the speedup, and a text", "[work_span]") {
  work_span_profile const p{1000, 10, 50, 99, 300, 1000, 3};
  CHECK(p.parallelism() == 100);
  CHECK(p.burdened_parallelism() == 20);
  CHECK(p.task_size() == 10);
  CHECK(p.speedup(1).high == 1);
  CHECK(p.speedup(10).low == Approx(1000 / 110.0));
  CHECK(p.speedup(10).high == Approx(10));
  CHECK(p.speedup(1000).high == Approx(100));
  CHECK(p.burdened_speedup(1000).high == Approx(20));
  CHECK(p.burdened_speedup(1000).low == Approx(1000 / 51.0));
  CHECK(work_span_profile{}.parallelism() == 0);
  CHECK(work_span_profile{}.speedup(4).high == 0);
  CHECK(p.text() ==
        "work                      1000 ticks, 100 tasks of 10 on average, 300 strands (an empty one seems to take 3)\n"
        "span                        10 ticks, parallelism 100.0\n"
        "burdened span               50 ticks, parallelism 20.0 with 1000 ticks per steal\n");
}

TEST_CASE("work_span: on the processor's clock", "[work_span]") {
  heist::executor ex{1};
  heist_test::watchdog guard{ex, 60s, "real clock"};
  auto const m = measure_work_span(ex, [](auto ctx) { return fib(ctx, 20); });
  CHECK(m.result == 6765);
  CHECK(m.profile.tasks == 10945);  // one for each addition
  CHECK(m.profile.steal_cost == 1000);
  CHECK(m.profile.work >= m.profile.burdened_span);
  CHECK(m.profile.burdened_span >= m.profile.span);
  CHECK(m.profile.span > 0);
  // An interruption is longer than a whole run, so the best of many short runs counts. The bar says no more than that a
  // tree is not a chain.
  double most = 0;
  for (int i = 0; i < 2000 && most <= 4; ++i)
    most = std::max(most, measure_work_span(ex, [](auto ctx) { return fib(ctx, 12); }).profile.parallelism());
  CHECK(most > 4);
  double least = 1e9;
  for (int i = 0; i < 20 && least > 1.5; ++i) {
    auto const chain = measure_work_span(ex, [](auto ctx) {
      for (int i = 0; i < 100; ++i) {
        ctx.fork_join(
            [](auto) {
              [[maybe_unused]] int volatile seen = 0;
              for (int j = 0; j < 1000; ++j) seen = j;
            },
            [] {});
      }
    });
    least = std::min(least, chain.profile.parallelism());
  }
  CHECK(least >= 1);
  CHECK(least < 1.5);
}
