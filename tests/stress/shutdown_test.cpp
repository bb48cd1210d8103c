// The end of an executor at any moment: while its tasks fork, park, steal, run graphs and regions. Its last task may
// come from a thread that is still leaving. All accepted tasks have run when the executor is gone.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <thread>
#include <tuple>

#include "heist/core/base/random.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/graph.hpp"
#include "heist/policy.hpp"
#include "heist/region.hpp"
#include "heist/replay.hpp"
#include "heist/tiers.hpp"
#include "heist/topology.hpp"
#include "support/catch.hpp"
#include "support/stress.hpp"
#include "support/watchdog.hpp"
#include "support/yield.hpp"

namespace {

using policies =
    std::tuple<heist::policy::with_order<heist::policy::random, heist::order::child_first>, heist::policy::cab,
               heist::policy::replay, heist::policy::with_idle<heist::policy::random, heist::idle::adaptive>>;

heist::options small(heist::fast_random& random) {
  heist::options wanted{.workers = 1 + random.below(4), .stack_size = std::size_t{64} << 10};
  if (random.below(2) == 0) wanted.machine = heist::topology::parse("package:2 l3:1(size=1MiB) core:2 pu:1");
  return wanted;
}

/// Chaos: now and then a worker is held up for a while, at a place where another one may be waiting for it.
void dawdle(std::uint64_t seed) {
  heist::fast_random random{seed};
  switch (random.below(8)) {
    case 0:
      std::this_thread::sleep_for(std::chrono::microseconds{random.below(200)});
      break;
    case 1:
      heist_test::yield();
      break;
    default:
      for (auto n = random.below(300); n != 0; --n) heist::os_env::relax();
  }
}

/// Counts the tasks that it runs; all of them belong to one task.
struct load {
  std::atomic<long>& ran;
  std::uint64_t seed;

  template <class Context>
  void tree(Context c, int levels, std::uint64_t id) const {
    ++ran;
    dawdle(seed + id);
    if (levels == 0) return;
    auto const child = [this, levels](std::uint64_t at) {
      return [this, levels, at](Context d) { tree(d, levels - 1, at); };
    };
    if (id % 3 == 0) {
      heist::scope<Context> s{c};
      s.fork(child(2 * id));
      s.fork(child(2 * id + 1));
    } else {
      c.fork_join(child(2 * id), child(2 * id + 1));
    }
  }
  template <class Context>
  void waits(Context c, int left) const {
    ++ran;
    dawdle(seed + static_cast<std::uint64_t>(left));
    if (left != 0) c.submit([this, left](Context d) { waits(d, left - 1); }).get();
  }
  template <class Context>
  void spawns(Context c, int left) const {
    ++ran;
    dawdle(seed + static_cast<std::uint64_t>(left));
    if (left != 0) static_cast<void>(c.submit([copy = *this, left](Context d) { copy.spawns(d, left - 1); }));
  }
};

/// Posts one task of some kind and says how much it will count.
template <class Executor>
long post_one(Executor& ex, std::atomic<long>& ran, std::uint64_t seed, heist::task_graph& g, std::size_t nodes) {
  using context = typename Executor::context_type;
  load const l{ran, seed};
  switch (seed % 6) {
    case 0:
      ex.post([l](context c) { l.tree(c, 4, 1); });
      return 31;
    case 1:
      ex.post([l](context c) { l.waits(c, 10); });
      return 11;
    case 2:
      ex.post([l](context c) { l.spawns(c, 10); });
      return 11;
    case 3:
      static_cast<void>(ex.run(g));
      return static_cast<long>(nodes);
    case 4:
      ex.post([l](context c) {
        heist::region r{{.boundary_level = 2}};
        c.invoke(r, [l](auto inner) { l.tree(inner, 3, 1); });
      });
      return 15;
    default:
      ex.post([&ran] { ++ran; });
      return 1;
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("shutdown: nothing to four tasks of all kinds, then the end at once", "[stress]", policies) {
  auto const seed = heist_test::stress_seed("shutdown");
  heist::fast_random random{seed};
  heist_test::watchdog guard{"shutdown", std::chrono::seconds{heist_test::stress_limit(60)}};
  for (int round = heist_test::stress_rounds(1000); round > 0; --round) {
    std::atomic<long> ran{0};
    long expected = 0;
    heist::task_graph g;
    auto first = g.emplace([&] { ++ran; });
    for (int i = 0; i < 5; ++i) first.precede(g.emplace([&, i] { dawdle(static_cast<std::uint64_t>(i)), ++ran; }));
    {
      heist::executor<TestType> ex{small(random)};
      for (auto tasks = random.below(5); tasks != 0; --tasks) {
        expected += post_one(ex, ran, random.next(), g, 6);
        if (random.below(4) == 0) dawdle(random.next());
      }
    }
    REQUIRE(ran == expected);
  }
}

TEMPLATE_LIST_TEST_CASE("shutdown: the last task comes from a thread that has not left yet", "[stress]", policies) {
  auto const seed = heist_test::stress_seed("shutdown beside a foreign thread");
  heist::fast_random random{seed};
  heist_test::watchdog guard{"shutdown beside a foreign thread", std::chrono::seconds{heist_test::stress_limit(60)}};
  using executor = heist::executor<TestType>;
  std::atomic<executor*> published{nullptr};
  std::atomic<bool> over{false}, inside{false};
  std::atomic<long> ran{0};
  std::thread external{[&] {
    for (;;) {
      executor* const ex = published.exchange(nullptr);
      if (ex != nullptr) {
        ex->post([&](typename executor::context_type c) {
          inside = true;  // from here on the executor may be destroyed as soon as its work is done
          load{ran, 5}.tree(c, 2, 1);
        });
      } else if (over) {
        return;
      } else {
        heist::os_env::yield();
      }
    }
  }};
  long expected = 0;
  for (int round = heist_test::stress_rounds(500); round > 0; --round) {
    std::optional<executor> ex{std::in_place, small(random)};  // always in the same place: a late look would be seen
    inside = false;
    published = &*ex;
    while (!inside) heist::os_env::yield();
    ex.reset();
    expected += 7;
    REQUIRE(ran == expected);
  }
  over = true;
  external.join();
}
