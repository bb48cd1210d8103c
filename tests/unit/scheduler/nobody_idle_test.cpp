// No worker is idle while a task or an iteration is ready. In each shape of forks, n bodies that wait for each other end on
// n workers. The tests need no clock: a ready body that did not start would block the program.
#include <algorithm>  // is_sorted
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>  // plus
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "support/catch.hpp"
#include "support/meet_point.hpp"
#include "support/watchdog.hpp"

#include "heist/algorithm.hpp"
#include "heist/coroutine.hpp"
#include "heist/executor.hpp"
#include "heist/flow.hpp"
#include "heist/fork_join.hpp"
#include "heist/graph.hpp"
#include "heist/pipeline.hpp"
#include "heist/policy.hpp"
#include "heist/region.hpp"
#include "heist/replay.hpp"
#include "heist/tiers.hpp"

using heist_test::executor_of;
using heist_test::halves;
using heist_test::meet_point;
using heist_test::meets;
using heist_test::worker_counts;

namespace {

namespace policy = heist::policy;
namespace idle = heist::idle;
using parent_first = policy::random;
using child_first = policy::with_order<policy::random, heist::order::child_first>;
using leapfrog = policy::with_join<policy::random, heist::join::leapfrog>;
template <class Idle>
using idling = policy::with_idle<policy::random, Idle>;

#ifdef HEIST_FEW_POLICIES
using every_policy = std::tuple<parent_first, child_first, policy::cab>;
#else
using every_policy =
    std::tuple<parent_first, child_first, leapfrog, idling<idle::adaptive>, idling<idle::bws>, idling<idle::spinning>,
               policy::sampling, policy::hierarchical, policy::cab, policy::cats, policy::replay>;
#endif

/// The rest of the bodies is called first: all are forked before one begins.
template <class Context>
void rest_first(Context ctx, std::size_t n, meet_point& m) {
  if (n == 1) return m();
  ctx.fork_join([=, &m](Context c) { rest_first(c, n - 1, m); }, [&m] { m(); });
}
template <class Context>
void rest_last(Context ctx, std::size_t n, meet_point& m) {
  if (n == 1) return m();
  ctx.fork_join([&m] { m(); }, [=, &m](Context c) { rest_last(c, n - 1, m); });
}
template <class Context>
void fives(Context ctx, std::size_t n, meet_point& m) {
  if (n == 0) return;
  if (n == 1) return m();
  auto const part = [n, &m](std::size_t i) {
    return [n, &m, i](Context c) { fives(c, n / 5 + (i < n % 5 ? 1 : 0), m); };
  };
  if (n < 5) {
    ctx.fork_join([&m] { m(); }, [n, &m](Context c) { fives(c, n - 1, m); });
  } else {
    ctx.fork_join(part(0), part(1), part(2), part(3), part(4));
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("nobody idle: forks of every shape", "[sched]", every_policy) {
  using context = typename heist::executor<TestType>::context_type;
  meets<TestType>("halves",
                  [](auto& ex, std::size_t n, meet_point& m) { ex.invoke([&](context c) { halves(c, n, m); }); });
  meets<TestType>("the rest first",
                  [](auto& ex, std::size_t n, meet_point& m) { ex.invoke([&](context c) { rest_first(c, n, m); }); });
  meets<TestType>("the rest last",
                  [](auto& ex, std::size_t n, meet_point& m) { ex.invoke([&](context c) { rest_last(c, n, m); }); });
  meets<TestType>("fives",
                  [](auto& ex, std::size_t n, meet_point& m) { ex.invoke([&](context c) { fives(c, n, m); }); });
  meets<TestType>("scope", [](auto& ex, std::size_t n, meet_point& m) {
    ex.invoke([&](context c) {
      heist::scope s{c};
      for (std::size_t i = 0; i != n; ++i) s.fork([&m] { m(); });
    });
  });
  meets<TestType>("half forked, half by two", [](auto& ex, std::size_t n, meet_point& m) {
    ex.invoke([&](context c) {
      heist::scope s{c};
      for (std::size_t i = 0; i != n / 2; ++i) s.fork([&m](context in) { in.fork_join([&m] { m(); }, [&m] { m(); }); });
      if (n % 2 != 0) s.fork([&m] { m(); });
    });
  });
}

TEMPLATE_LIST_TEST_CASE("nobody idle: loops and algorithms", "[sched]", every_policy) {
  using context = typename heist::executor<TestType>::context_type;
  meets<TestType>("a loop from outside", [](auto& ex, std::size_t n, meet_point& m) {
    heist::for_each_index(ex, std::size_t{0}, n, [&m](std::size_t) { m(); });
  });
  meets<TestType>("a loop in a task", [](auto& ex, std::size_t n, meet_point& m) {
    ex.invoke([&](context c) { heist::for_each_index(c, std::size_t{0}, n, [&m](std::size_t) { m(); }); });
  });
  meets<TestType>("a loop whose body takes a context", [](auto& ex, std::size_t n, meet_point& m) {
    heist::for_each_index(ex, std::size_t{0}, n, [&m](auto&&, std::size_t) { m(); });
  });
  meets<TestType>("grain", [](auto& ex, std::size_t n, meet_point& m) {
    heist::for_each_index(ex, std::size_t{0}, n, [&m](std::size_t) { m(); }, {.grain = 1});
  });
  meets<TestType>("transform", [](auto& ex, std::size_t n, meet_point& m) {
    std::vector<int> v(n), out(n);
    heist::transform(ex, v, out.begin(), [&m](int x) {
      m();
      return x;
    });
  });
  meets<TestType>("reduce, exact", [](auto& ex, std::size_t n, meet_point& m) {
    std::vector<int> v(n, 1);
    int const all = heist::transform_reduce(ex, v.begin(), v.end(), 0, std::plus{}, [&m](int x) {
      m();
      return x;
    });
    CHECK(all == static_cast<int>(n));
  });
  meets<TestType>("reduce, of strings", [](auto& ex, std::size_t n, meet_point& m) {
    std::vector<int> v(n, 1);
    auto const all = heist::transform_reduce(ex, v.begin(), v.end(), std::string{}, std::plus{}, [&m](int) {
      m();
      return std::string{"x"};
    });
    CHECK(all == std::string(n, 'x'));
  });
  meets<TestType>("histogram", [](auto& ex, std::size_t n, meet_point& m) {
    std::vector<int> v(n, 1);
    auto const all = heist::histogram(ex, v, 2, [&m](int x) {
      m();
      return x;
    });
    CHECK(all == std::vector<std::size_t>{0, n});
  });
  meets<TestType>("loops in a loop", [](auto& ex, std::size_t n, meet_point& m) {
    std::size_t const rows = n < 4 ? 1 : 4;
    heist::for_each_index(ex, std::size_t{0}, rows, [&](std::size_t row) {
      std::size_t const columns = n / rows + (row < n % rows ? 1 : 0);
      heist::for_each_index(ex, std::size_t{0}, columns, [&m](std::size_t) { m(); });
    });
  });
}

TEMPLATE_LIST_TEST_CASE("nobody idle: graphs, asyncs, flows, pipelines, coroutines", "[sched]", every_policy) {
  using context = typename heist::executor<TestType>::context_type;
  meets<TestType>("graph behind one task", [](auto& ex, std::size_t n, meet_point& m) {
    heist::task_graph g;
    auto first = g.emplace([] {});
    for (std::size_t i = 0; i != n; ++i) first.precede(g.emplace([&m] { m(); }));
    ex.run(g).get();
  });
  meets<TestType>("posts", [](auto& ex, std::size_t n, meet_point& m) {
    for (std::size_t i = 0; i != n; ++i) ex.post([&m] { m(); });
    ex.wait_idle();
  });
  meets<TestType>("submits in a task", [](auto& ex, std::size_t n, meet_point& m) {
    ex.invoke([&](context c) {
      std::vector<heist::future<void>> all;
      for (std::size_t i = 0; i != n; ++i) all.push_back(c.submit([&m] { m(); }));
      for (auto& one : all) one.get();
    });
  });
  meets<TestType>("flow", [](auto& ex, std::size_t n, meet_point& m) {
    heist::flow f{ex};
    for (std::size_t i = 0; i != n; ++i) f.task([&m] { m(); });
    f.wait();
  });
  meets<TestType>("pipeline", [](auto& ex, std::size_t n, meet_point& m) {
    std::size_t made = 0;
    heist::pipeline p{n, heist::serial_stage([&](heist::token& t) {
                        if (made == n) t.stop();
                        return made++;
                      }),
                      heist::parallel_stage([&m](std::size_t) { m(); })};
    ex.run(p).get();
  });
  meets<TestType>("coroutines", [](auto& ex, std::size_t n, meet_point& m) {
    auto const body = [](meet_point& of) -> heist::coroutine<void> {
      of();
      co_return;
    };
    std::vector<heist::future<void>> all;
    for (std::size_t i = 0; i != n; ++i) all.push_back(ex.submit([&] { heist::sync_wait(body(m)); }));
    for (auto& one : all) one.get();
  });
}

// The owner forks while all other workers are busy, and begins a long task. Then the other workers become free.
TEMPLATE_TEST_CASE("nobody idle: those who come late open the task stack of an owner that does not answer", "[sched]",
                   parent_first, leapfrog, idling<idle::adaptive>, idling<idle::spinning>, policy::cab) {
  using context = typename heist::executor<TestType>::context_type;
  for (std::size_t const n : worker_counts) {
    heist_test::watchdog guard{"late", std::chrono::seconds{120}};
    auto ex = executor_of<TestType>(n);
    for (int round = 0; round != 3; ++round) {
      meet_point m{n};
      std::atomic<bool> forked{false};
      std::latch busy{static_cast<std::ptrdiff_t>(n)};
      for (std::size_t i = 1; i != n; ++i) {
        ex.post([&] {
          busy.arrive_and_wait();
          while (!forked) std::this_thread::yield();
        });
      }
      ex.invoke([&](context ctx) {
        busy.arrive_and_wait();
        auto const descend = [&](auto const& self, context c, std::size_t left) -> void {
          if (left != 1)
            return static_cast<void>(c.fork_join([&](context in) { self(self, in, left - 1); }, [&m] { m(); }));
          forked = true;
          m();
        };
        descend(descend, ctx, n);
      });
      ex.wait_idle();
      CHECK(m.met() == n);
    }
  }
}

TEST_CASE("nobody idle: what an opened task throws or is stopped by comes where it belongs", "[sched]") {
  heist_test::watchdog guard{"opened", std::chrono::seconds{120}};
  constexpr std::size_t n = 8;
  heist::executor<> ex{n};
  for (int round = 0; round != 50; ++round) {
    meet_point m{n};
    auto const tree = [&](auto const& self, auto c, std::size_t left) -> void {
      if (left == 1) {
        m();
        throw std::runtime_error{"thrown"};
      }
      c.fork_join([&](auto in) { self(self, in, left - 1); }, [&m] { m(); });
    };
    CHECK_THROWS_WITH(ex.invoke([&](auto c) { tree(tree, c, n); }), "thrown");
    CHECK(m.met() == n);
  }
  for (int round = 0; round != 20; ++round) {
    // A scope's children on top of frames that have forked: a stop of the scope is not one of what lies below.
    meet_point m{n};
    std::atomic<bool> stopped{false}, seen{false};
    ex.invoke([&](auto ctx) {
      ctx.fork_join(
          [&](auto c) {
            heist::scope s{c};
            s.fork([&](auto in) {
              in.fork_join(
                  [&](auto deep) {
                    rest_first(deep, n - 1, m);
                    s.request_stop();
                    stopped = true;
                  },
                  [](auto) {});
            });
          },
          [&](auto c) {
            m();
            while (!stopped) std::this_thread::yield();
            if (c.stop_requested()) seen = true;
          });
    });
    CHECK(!seen);
    CHECK(m.met() == n);
  }
}

TEST_CASE("nobody idle: a thread outside that can work does not wait for busy workers", "[sched]") {
  for (std::size_t const n : worker_counts) {
    heist::executor<> ex{n};
    heist_test::watchdog guard{ex, std::chrono::seconds{120}};
    std::latch busy{static_cast<std::ptrdiff_t>(n + 1)};
    std::atomic<bool> over{false};
    for (std::size_t i = 0; i != n; ++i) {
      ex.post([&] {
        busy.arrive_and_wait();
        while (!over) std::this_thread::yield();
      });
    }
    busy.arrive_and_wait();
    std::vector<int> v(100'000), w(v.size()), both(2 * v.size());
    heist::for_each_index(ex, std::size_t{0}, v.size(), [&](std::size_t i) { v[i] = static_cast<int>(i); });
    heist::transform(ex, v, w.begin(), [](int x) { return x + 1; });
    CHECK(heist::reduce(ex, v, 0L) == 4'999'950'000);
    CHECK(heist::reduce(ex, v, 0.5) == 4'999'950'000.5);
    CHECK(heist::count_if(ex, v, [](int x) { return x % 3 == 0; }) == 33'334);
    CHECK(heist::histogram(ex, v, 2, [](int x) { return x % 2; }) == std::vector<std::size_t>(2, 50'000));
    CHECK(heist::find(ex, v, 77'777) == v.begin() + 77'777);
    CHECK(heist::min_element(ex, v) == v.begin());
    CHECK(heist::max_element(ex, v) == v.end() - 1);
    heist::merge(ex, v, w, both.begin());
    CHECK(std::is_sorted(both.begin(), both.end()));
    CHECK(ex.run_here([] { return 7; }) == 7);
    CHECK_THROWS_WITH(ex.run_here([]() -> int { throw std::runtime_error{"x"}; }), "x");
    over = true;
    ex.wait_idle();
  }
}

TEMPLATE_TEST_CASE("nobody idle: results that helpers make are destroyed where one cannot be added", "[sched]",
                   parent_first, child_first) {
  for (std::size_t const n : worker_counts) {
    heist_test::watchdog guard{"results", std::chrono::seconds{120}};
    auto ex = executor_of<TestType>(n);
    // Each iteration has a result of its own: all begin at the same time.
    // The operation throws while these are added. The others are destroyed.
    std::atomic<int> alive{0};
    struct value {
      std::atomic<int>* alive = nullptr;
      explicit value(std::atomic<int>& of) : alive{&of} { ++*alive; }
      value(value const& of) : alive{of.alive} { ++*alive; }
      ~value() { --*alive; }
      value& operator=(value const&) = default;
    };
    meet_point again{n};
    std::vector<value> values(n, value{alive});
    std::atomic<std::size_t> read{0};
    CHECK_THROWS_WITH(
        heist::transform_reduce(ex, values, value{alive}, heist::any_order([&](value const& a, value const&) -> value {
                                  if (read == n) throw std::runtime_error{"thrown"};
                                  return a;
                                }),
                                [&](value const& x) {
                                  again();
                                  ++read;
                                  return x;
                                }),
        "thrown");
    CHECK(alive == static_cast<int>(n));
  }
}
