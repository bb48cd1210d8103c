// Exceptions from several sides at once: all siblings finish, the first in order of the arguments is rethrown, and
// nothing is lost or destroyed twice.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include "support/catch.hpp"
#include "support/rounds.hpp"
#include "support/watchdog.hpp"
#include "support/yield.hpp"
#include "unit/fork/every_policy.hpp"

using namespace std::chrono_literals;
using heist_test::every_policy;
using heist_test::slow;

namespace {

/// Counts the objects that there are; says when one is destroyed twice.
class counted {
 public:
  static inline std::atomic<int> alive{0};
  static inline std::atomic<bool> twice{false};

  counted() noexcept { ++alive; }
  counted(counted const&) noexcept { ++alive; }
  counted(counted&&) noexcept { ++alive; }
  counted& operator=(counted const&) = default;
  counted& operator=(counted&&) = default;
  ~counted() {
    if (mark_ != here) twice = true;
    mark_ = 0;
    --alive;
  }
  static bool balanced() { return alive == 0 && !twice; }

 private:
  static constexpr unsigned here = 0xc0ffee;
  unsigned volatile mark_ = here;
};

/// The exception that the tasks throw.
struct failure {
  int who;
  counted payload{};
};

/// The result that the tasks return: it can only be moved.
struct result {
  explicit result(int v) : value{v} {}
  result(result const&) = delete;
  result(result&&) noexcept = default;
  result& operator=(result const&) = delete;
  result& operator=(result&&) = delete;
  ~result() = default;
  int value;
  counted payload{};
  std::array<char, 40> more_than_a_slot{};
};

/// Runs `f` on `ex`. Returns the number in the failure that it throws, or 0.
template <class Executor, class F>
int failing_one(Executor& ex, F f) {
  try {
    ex.invoke(f);
  } catch (failure const& e) {
    return e.who;
  }
  return 0;
}

struct meet_point {
  std::atomic<int> here{0};
  void operator()(int all) {
    ++here;
    while (here < all) std::this_thread::yield();
  }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("exceptions: from both sides at once", "[fork]", every_policy) {
  heist::executor<TestType> ex{2};
  heist_test::watchdog guard{ex, 60s, "both sides"};
  for (int round = 0; round < (slow ? 30 : 150); ++round) {
    std::atomic<int> finished{0};
    int const who = failing_one(ex, [&](auto ctx) {
      meet_point both;
      auto const fail = [&](int i) {
        both(2);  // at once, on both workers
        ++finished;
        throw failure{i};
      };
      ctx.fork_join([&] { fail(1); }, [&] { fail(2); });
    });
    REQUIRE(who == 1);
    REQUIRE(finished == 2);
    REQUIRE(counted::balanced());
  }
}

TEMPLATE_LIST_TEST_CASE("exceptions: any subset of four fails", "[fork]", every_policy) {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor<TestType> ex{workers};
    heist_test::watchdog guard{ex, 60s, "subsets"};
    heist_test::rounds rounds{slow ? 3 : 30};
    while (rounds.next()) {
      for (int failing = 0; failing < 16; ++failing) {
        std::atomic<int> finished{0};
        int sum = 0;
        auto const task = [&](int i) {
          if ((rounds.begun() + i) % 2 == 0) heist_test::yield();
          ++finished;
          if ((failing >> i & 1) != 0) throw failure{i + 1};
          return result{i};
        };
        int const who = failing_one(ex, [&](auto ctx) {
          auto const [a, b, c, d] = ctx.fork_join([&] { return task(0); }, [&] { return task(1); },
                                                  [&] { return task(2); }, [&] { return task(3); });
          sum = a.value + 10 * b.value + 100 * c.value + 1000 * d.value;
        });
        INFO("failing " << failing << ", workers " << workers);
        REQUIRE(finished == 4);
        REQUIRE(who == (failing == 0 ? 0 : __builtin_ctz(static_cast<unsigned>(failing)) + 1));
        REQUIRE(sum == (failing == 0 ? 3210 : 0));
        REQUIRE(counted::balanced());
      }
    }
  }
}

TEMPLATE_LIST_TEST_CASE("exceptions: one of two fails, the other's result is destroyed once", "[fork]", every_policy) {
  for (std::size_t const workers : {1u, 2u}) {
    heist::executor<TestType> ex{workers};
    heist_test::watchdog guard{ex, 60s, "dropped results"};
    for (int round = 0; round < (slow ? 30 : 150); ++round) {
      int const failing = 1 + round % 2;
      meet_point both;
      auto const task = [&](int i) {
        if (workers == 2) both(2);
        if (i == failing) throw failure{i};
        return result{i};
      };
      int const who =
          failing_one(ex, [&](auto ctx) { ctx.fork_join([&] { return task(1); }, [&] { return task(2); }); });
      REQUIRE(who == failing);
      REQUIRE(counted::balanced());
    }
  }
}

namespace {

/// A tree in which every leaf whose number `fails` says fails; the first of them, from left to right, arrives.
template <class Context, class Fails>
result tree(Context ctx, int depth, int number, Fails const& fails, std::atomic<int>& leaves) {
  if (depth == 0) {
    ++leaves;
    if (fails(number)) throw failure{number};
    return result{1};
  }
  auto [a, b] = ctx.fork_join([&, depth](Context c) { return tree(c, depth - 1, 2 * number, fails, leaves); },
                              [&, depth](Context c) { return tree(c, depth - 1, 2 * number + 1, fails, leaves); });
  return result{a.value + b.value};
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("exceptions: in nested forks the leftmost arrives, and no leaf is left out", "[fork]",
                        every_policy) {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor<TestType> ex{workers};
    heist_test::watchdog guard{ex, 60s, "nested exceptions"};
    for (int round = 1; round < (slow ? 10 : 100); ++round) {
      std::atomic<int> leaves{0};
      auto const fails = [round](int number) { return number % (round % 40 + 1) == 0; };
      int first = 0;
      for (int number = 511; number >= 256; --number) first = fails(number) ? number : first;
      int got = 0;
      int const who = failing_one(ex, [&](auto ctx) { got = tree(ctx, 8, 1, fails, leaves).value; });
      REQUIRE(who == first);
      REQUIRE(got == (first == 0 ? 256 : 0));
      REQUIRE(leaves == 256);
      REQUIRE(counted::balanced());
    }
  }
}

TEMPLATE_LIST_TEST_CASE("exceptions: a task that caught one forks after the handler", "[fork]", every_policy) {
  heist::executor<TestType> ex{2};
  heist_test::watchdog guard{ex, 60s, "caught and gone on"};
  for (int round = 0; round < (slow ? 30 : 300); ++round) {
    bool const clean = ex.invoke([&](auto ctx) {
      bool ok = true;
      for (int i = 0; i < 5; ++i) {
        try {
          ctx.fork_join([] { throw failure{1}; }, [] { heist_test::yield(); }, [] { throw failure{3}; });
          ok = false;
        } catch (failure const& e) {
          ok = ok && e.who == 1;
        }
        auto const [a, b] = ctx.fork_join([] { return std::uncaught_exceptions(); },
                                          [] { return static_cast<bool>(std::current_exception()); });
        ok = ok && a == 0 && !b && !std::current_exception();
      }
      return ok;
    });
    REQUIRE(clean);
    REQUIRE(counted::balanced());
  }
}

TEMPLATE_LIST_TEST_CASE("exceptions: out of many children of a scope one arrives, the others are destroyed", "[fork]",
                        every_policy) {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor<TestType> ex{workers};
    heist_test::watchdog guard{ex, 60s, "scope"};
    for (int round = 0; round < (slow ? 10 : 100); ++round) {
      std::atomic<int> finished{0};
      int const who = failing_one(ex, [&](auto ctx) {
        heist::scope s{ctx};
        for (int i = 1; i <= 40; ++i) {
          s.fork([&finished, i, kept = counted{}] {
            ++finished;
            if (i % 3 == 0) throw failure{i};
          });
        }
        s.join();
      });
      REQUIRE(who % 3 == 0);
      REQUIRE(who != 0);
      REQUIRE(finished == 40);
      REQUIRE(counted::balanced());
    }
  }
}

TEST_CASE("exceptions: a fork in a handler, parent-first, leaves the handled exception alone", "[fork]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s, "forks in handlers"};
  for (int round = 0; round < (slow ? 30 : 300); ++round) {
    bool const right = ex.invoke([&](auto ctx) {
      try {
        throw failure{7};
      } catch (failure const&) {
        auto const [a, b] = ctx.fork_join([] { return 1; }, [] { return 2; });
        try {
          throw;
        } catch (failure const& again) {
          return again.who == 7 && a + b == 3;
        }
      }
      return false;
    });
    REQUIRE(right);
    REQUIRE(counted::balanced());
  }
}
