// Results whose move throws, callables that the caller looks at afterwards, and children for which there is no memory.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>
#include <thread>
#include <type_traits>

#include "heist/fork_join.hpp"
#include "heist/region.hpp"
#include "heist/tiers.hpp"
#include "support/catch.hpp"
#include "unit/fork/every_way.hpp"

using namespace std::chrono_literals;
using heist_test::in_every_way;
using heist_test::slow;

namespace {

/// The counters of one test.
struct results {
  std::atomic<int> made{0}, destroyed{0}, moves{0}, callables{0};
  int fail_at = -1;

  struct result {
    explicit result(results& r) : of{&r} { ++of->made; }
    result(result&& from) : of{from.of} {
      if (of->moves++ == of->fail_at) throw 7;
      ++of->made;
    }
    ~result() { ++of->destroyed; }
    results* of;
  };

  result call() {
    ++callables;
    return result{*this};
  }
  /// So that another worker may come for the others.
  result call_slow_path() {
    std::this_thread::sleep_for(20us);
    return call();
  }
};

template <std::size_t Count, class Context>
void fork_so_many(Context c, results& r) {
  auto const call = [&r] { return r.call(); };
  auto const slowly = [&r] { return r.call_slow_path(); };
  if constexpr (Count == 2) {
    c.fork_join(slowly, call);
  } else {
    c.fork_join(slowly, call, slowly);
  }
}

}  // namespace

TEST_CASE("results: if one throws while it is moved, the others are destroyed, and every callable has run", "[fork]") {
  in_every_way(slow ? 1 : 3, [](auto c) {
    auto const check = [&]<std::size_t Count>(std::integral_constant<std::size_t, Count>) {
      for (int at = 0; at != 12; ++at) {
        results r;
        r.fail_at = at;
        try {
          fork_so_many<Count>(c, r);
        } catch (int const thrown) {
          REQUIRE(thrown == 7);
        }
        INFO("move " << at << " of " << r.moves);
        REQUIRE(r.callables == static_cast<int>(Count));
        REQUIRE(r.made == r.destroyed);
      }
    };
    check(std::integral_constant<std::size_t, 2>{});
    check(std::integral_constant<std::size_t, 3>{});
  });
  heist::executor<> ex{2};
  for (int at = 0; at != 4; ++at) {
    results r;
    r.fail_at = at;
    try {
      auto const got = ex.submit([&r] { return r.call(); }).get();
    } catch (int) {
    }
    ex.wait_idle();
    REQUIRE(r.made == r.destroyed);
  }
}

namespace {

template <std::size_t Words>
struct counting {
  mutable std::array<long, Words> calls{};
  void operator()() const { ++calls[0]; }
};
/// The usual form: the call operator is not const.
struct counting_plainly {
  long calls = 0;
  void operator()() { ++calls; }
};

template <class Callable, class Context>
void callers_own(Context c) {
  Callable one, two, three, four, five;
  c.fork_join(one, two);
  c.fork_join(three, four, five);
  c.inter_fork(one, two);
  auto const first = [](auto const& calls) {
    if constexpr (requires { calls[0]; }) {
      return calls[0];
    } else {
      return calls;
    }
  };
  REQUIRE(first(one.calls) == 2);
  REQUIRE(first(two.calls) == 2);
  for (Callable const* f : {&three, &four, &five}) REQUIRE(first(f->calls) == 1);
}

}  // namespace

TEST_CASE("callables: what the caller has a name for is called itself, whatever its size", "[fork]") {
  in_every_way(2, [](auto c) {
    callers_own<counting<1>>(c);
    callers_own<counting<2>>(c);
    callers_own<counting_plainly>(c);
    counting<1> const constant{}, other{};
    c.fork_join(constant, other);
    REQUIRE(constant.calls[0] + other.calls[0] == 2);
  });
  counting<1> one, two;
  heist::fork_join(one, two);
  CHECK(one.calls[0] + two.calls[0] == 2);
}

TEST_CASE("no memory: a later child of a child-first fork_join is called in place while the first runs", "[fork]") {
  // As many fibers as the first child, which waits, and its caller need: there is none for the second.
  heist::executor<> gate{1};
  for (int round = 0; round < (slow ? 5 : 50); ++round) {
    heist::executor<heist_test::child_first> ex{heist::options{.workers = 1, .max_fibers = 2}};
    heist_test::watchdog guard{ex, 60s, "no fiber for the second child"};
    bool first_ended = false;
    auto const sum = ex.invoke([&](auto c) {
      auto const [a, b, d] = c.fork_join(
          [&] {
            gate.submit([] { std::this_thread::sleep_for(100us); }).get();
            first_ended = true;
            return 1;
          },
          [] { return 2; }, [] { return 3; });
      return a + b + d;
    });
    CHECK(sum == 6);
    CHECK(first_ended);
  }
}

TEST_CASE("no memory: a region's entry is a call where no stack is left for another task", "[fork]") {
  auto options = heist_test::one_worker_each();
  options.max_fibers = 2;
  heist::executor<heist::policy::cab> ex{options};
  heist_test::watchdog guard{ex, 60s, "no fiber for a region"};
  for (int round = 0; round < 5; ++round) {
    std::atomic<int> in{0}, done{0};
    heist::region r[2] = {heist::region{{.boundary_level = 2}}, heist::region{{.boundary_level = 2}}};
    for (auto& region : r) {
      ex.post([&](auto c) {
        ++in;
        while (in != 2) std::this_thread::yield();
        c.invoke(region, [&](auto d) { done += static_cast<int>(heist_test::fib(d, 5)); });
      });
    }
    ex.wait_idle();
    CHECK(done == 10);
    for (auto const& region : r) CHECK(region.explain().find("all fiber stacks are in use") != std::string::npos);
  }
  CHECK(heist_test::all_free(ex));
}
