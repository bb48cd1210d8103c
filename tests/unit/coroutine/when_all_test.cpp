// when_all() of coroutines: values, exceptions, where they run, and what happens to those that never begin.
#include "heist/core/base/config.hpp"
#include "heist/coroutine.hpp"

#if HEIST_COROUTINES

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cfenv>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "heist/async.hpp"
#include "heist/fork_join.hpp"
#include "heist/sync.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"
#include "support/yield.hpp"

using namespace std::chrono_literals;

namespace {

heist::coroutine<int> number(int n) {
  co_return n;
}
heist::coroutine<> adds(std::atomic<int>& to, int n) {
  to += n;
  co_return;
}
heist::coroutine<int&> same(int& n) {
  co_return n;
}
heist::coroutine<std::unique_ptr<int>> owned(int n) {
  co_return std::make_unique<int>(n);
}
heist::coroutine<int> throws(std::atomic<int>& begun, int n) {
  ++begun;
  throw std::runtime_error{std::to_string(n)};
  co_return n;
}

/// Ends when `n` of them have begun.
heist::coroutine<int> meets(std::atomic<int>& begun, int n) {
  ++begun;
  while (begun < n) heist_test::yield();
  co_return 1;
}

heist::coroutine<long> fib(int n) {
  if (n < 2) co_return n;
  auto const [a, b] = co_await heist::when_all(fib(n - 1), fib(n - 2));
  co_return a + b;
}

heist::coroutine<std::thread::id> where() {
  co_return std::this_thread::get_id();
}
heist::coroutine<std::thread::id> moves(heist::executor<>& to) {
  co_await heist::resume_on(to);
  co_return std::this_thread::get_id();
}

struct counts : heist::null_observer {
  static constexpr bool observes = true;
  int begins = 0, ends = 0;
  void task_begin(std::size_t /*worker*/, heist::task_view const& /*task*/) noexcept { ++begins; }
  void task_end(std::size_t /*worker*/, heist::task_view const& /*task*/) noexcept { ++ends; }
};

/// A coroutine type and an awaitable that are not heist's.
struct detached {
  struct promise_type {
    detached get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
};
struct foreign_event {
  std::coroutine_handle<>& waits;
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> h) { waits = h; }
  void await_resume() {}
};

/// What a coroutine begins with.
heist::coroutine<bool> begins_afresh() {
  co_return std::fegetround() == FE_TONEAREST&& std::current_exception() == nullptr&& std::uncaught_exceptions() == 0;
}
heist::coroutine<bool> others_begin_afresh() {
  auto const [a, b, c] = co_await heist::when_all(number(1), begins_afresh(), begins_afresh());
  co_return b&& c;
}

/// The result of `f()`, a coroutine, on `ex`.
template <class Executor, class F>
auto run_on(Executor& ex, F f) {
  auto const there = [](Executor& on, F& what) -> decltype(f()) {
    co_await heist::resume_on(on);
    co_return co_await what();
  };
  return heist::sync_wait(there(ex, f));
}

}  // namespace

TEST_CASE("coroutine: when_all returns all values", "[coroutine]") {
  for (std::size_t const workers : {1, 2, 4, 16}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{ex, 60s};
    std::atomic<int> sum{0};
    int place = 5;
    bool const right = run_on(ex, [&]() -> heist::coroutine<bool> {
      auto [a, b, c, d] = co_await heist::when_all(number(1), adds(sum, 2), same(place), owned(4));
      static_assert(std::is_same_v<decltype(b), std::monostate>);
      static_assert(std::is_same_v<decltype(c), int&>);
      auto const [alone] = co_await heist::when_all(number(7));
      co_return a == 1 && sum == 2 && *d == 4 && &c == &place&& alone == 7;
    });
    CHECK(right);
    for (int const n : {0, 1, 2, 1000}) {
      auto const all = run_on(ex, [n]() -> heist::coroutine<std::vector<int>> {
        std::vector<heist::coroutine<int>> of;
        for (int i = 0; i != n; ++i) of.push_back(number(i));
        co_return co_await heist::when_all(std::move(of));
      });
      REQUIRE(all.size() == static_cast<std::size_t>(n));
      for (int i = 0; i != n; ++i) CHECK(all[static_cast<std::size_t>(i)] == i);
      auto const places = run_on(ex, [n, &place]() -> heist::coroutine<std::vector<std::reference_wrapper<int>>> {
        std::vector<heist::coroutine<int&>> of;
        for (int i = 0; i != n; ++i) of.push_back(same(place));
        co_return co_await heist::when_all(std::move(of));
      });
      for (int const& at : places) CHECK(&at == &place);
      sum = 0;
      run_on(ex, [n, &sum]() -> heist::coroutine<> {
        std::vector<heist::coroutine<>> of;
        for (int i = 0; i != n; ++i) of.push_back(adds(sum, 1));
        co_await heist::when_all(std::move(of));
      });
      CHECK(sum == n);
    }
    CHECK(run_on(ex, [] { return fib(16); }) == 987);
    ex.wait_idle();
  }
}

TEST_CASE("coroutine: when_all runs coroutines at the same time", "[coroutine]") {
  heist::executor ex{3};
  heist_test::watchdog guard{ex, 60s};
  for (int i = 0; i != 200; ++i) {
    std::atomic<int> begun{0};
    CHECK(run_on(ex, [&begun]() -> heist::coroutine<int> {
            auto const [a, b, c] = co_await heist::when_all(meets(begun, 3), meets(begun, 3), meets(begun, 3));
            co_return a + b + c;
          }) == 3);
  }
}

TEST_CASE("coroutine: when_all throws the first exception, when all have ended", "[coroutine]") {
  for (std::size_t const workers : {1, 2}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{ex, 60s};
    for (int i = 0; i != 100; ++i) {
      std::atomic<int> begun{0};
      auto const kept = std::make_shared<int>(1);
      auto const holds = [](std::shared_ptr<int> what) -> heist::coroutine<std::shared_ptr<int>> { co_return what; };
      CHECK_THROWS_WITH(run_on(ex,
                               [&]() -> heist::coroutine<> {
                                 co_await heist::when_all(holds(kept), throws(begun, 1), meets(begun, 2),
                                                          throws(begun, 2));
                               }),
                        "1");
      CHECK(begun == 3);
      CHECK(kept.use_count() == 1);
      CHECK_THROWS_WITH(run_on(ex,
                               [&]() -> heist::coroutine<> {
                                 std::vector<heist::coroutine<int>> of;
                                 for (int n = 0; n != 9; ++n) of.push_back(n % 3 == 2 ? throws(begun, n) : number(n));
                                 co_await heist::when_all(std::move(of));
                               }),
                        "2");
      CHECK(begun == 6);
    }
  }
}

TEST_CASE("coroutine: when_all runs on the executor of the awaiting one, which comes back to it", "[coroutine]") {
  heist::executor ex{1}, other{1};
  heist_test::watchdog guard{"comes back", 60s, [&] { return ex.state_text() + other.state_text(); }};
  auto const here = ex.invoke([] { return std::this_thread::get_id(); });
  auto const there = other.invoke([] { return std::this_thread::get_id(); });
  for (int i = 0; i != 100; ++i) {
    CHECK(run_on(ex, [&]() -> heist::coroutine<bool> {
      auto const [a, b, c, d] = co_await heist::when_all(where(), moves(other), where(), moves(other));
      co_return std::this_thread::get_id() == here&& a == here&& b == there&& c == here&& d == there;
    }));
  }
  // A coroutine without an executor uses that of the calling worker. A thread outside has none.
  auto const both = [](heist::executor<>& to) -> heist::coroutine<bool> {
    auto const [a, b] = co_await heist::when_all(where(), moves(to));
    co_return a != b;
  };
  CHECK(ex.invoke([&] { return heist::sync_wait(both(other)); }));
  CHECK_THROWS_AS(heist::sync_wait(both(other)), heist::executor_error);
  auto const kept = std::make_shared<int>(1);
  auto const holds = [](std::shared_ptr<int> what) -> heist::coroutine<int> { co_return *what; };
  {
    auto const never = heist::when_all(holds(kept), holds(kept));
    CHECK(kept.use_count() == 3);
  }
  CHECK(kept.use_count() == 1);
}

TEST_CASE("coroutine: when_all awaits each coroutine once", "[coroutine]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  auto const twice = []() -> heist::coroutine<int> {
    auto one = number(1);
    int const first = co_await std::move(one);
    auto const [a, b] = co_await heist::when_all(number(2), std::move(one));
    co_return first + a + b;
  };
  CHECK_THROWS_AS(run_on(ex, twice), heist::executor_error);
  // The same object again.
  auto const pair = []() -> heist::coroutine<int> {
    auto both = heist::when_all(number(1), number(2));
    auto const [a, b] = co_await std::move(both);
    CHECK(a + b == 3);
    auto const [c, d] = co_await std::move(both);
    co_return c + d;
  };
  CHECK_THROWS_AS(run_on(ex, pair), heist::executor_error);
  auto const vector = []() -> heist::coroutine<std::size_t> {
    std::vector<heist::coroutine<int const>> of;
    of.push_back([]() -> heist::coroutine<int const> { co_return 1; }());
    auto all = heist::when_all(std::move(of));
    std::vector<int> const values = co_await std::move(all);
    CHECK(values == std::vector<int>{1});
    co_return (co_await std::move(all)).size();
  };
  CHECK_THROWS_AS(run_on(ex, vector), heist::executor_error);
  CHECK_THROWS_AS(run_on(ex,
                         []() -> heist::coroutine<> {
                           std::vector<heist::coroutine<>> of(2);
                           co_await heist::when_all(std::move(of));
                         }),
                  heist::executor_error);
}

TEST_CASE("coroutine: members of when_all await tasks and one another, and use no stack", "[coroutine][deep]") {
  constexpr int n = heist::under_tsan ? 2000 : 50000;  // ThreadSanitizer keeps a stack of its own
  for (std::size_t const workers : {1, 2}) {
    heist::executor ex{heist::options{.workers = workers, .max_fibers = 16}};
    heist_test::watchdog guard{ex, 100s};
    auto const member = [](heist::executor<>& on, int i) -> heist::coroutine<int> {
      int const a = co_await on.submit([i] { return i; });
      auto const [b, c] = co_await heist::when_all(number(a), number(1));
      co_return b + c;
    };
    CHECK(run_on(ex, [&]() -> heist::coroutine<long> {
            std::vector<heist::coroutine<int>> of;
            for (int i = 0; i != n; ++i) of.push_back(member(ex, i));
            long sum = 0;
            for (int const x : co_await heist::when_all(std::move(of))) sum += x;
            co_return sum;
          }) == long{n} * (n + 1) / 2);
    CHECK(run_on(ex, []() -> heist::coroutine<long> {
            long sum = 0;
            for (int i = 0; i != n; ++i) {
              auto const [a, b] = co_await heist::when_all(number(1), number(2));
              sum += a + b;
            }
            co_return sum;
          }) == 3L * n);
    struct recursion {
      static heist::coroutine<int> down(int depth) {
        if (depth == 0) co_return 0;
        auto const [a, b] = co_await heist::when_all(down(depth - 1), number(1));
        co_return a + b;
      }
    };
    CHECK(run_on(ex, [] { return recursion::down(n); }) == n);
  }
}

TEST_CASE("coroutine: requests from outside come first while pairs follow one another on one worker", "[coroutine]") {
  for (bool const nested : {false, true}) {
    heist::executor ex{1};
    heist_test::watchdog guard{ex, 60s};
    std::atomic<bool> come{false};
    std::atomic<int> rounds{0};
    std::thread outside{[&] {
      while (rounds < 10) heist_test::yield();
      ex.submit([&come] { come = true; }).wait();
    }};
    run_on(ex, [&]() -> heist::coroutine<> {
      while (!come) {
        ++rounds;
        if (nested) {
          co_await heist::when_all(fib(5), fib(4), number(1));
        } else {
          co_await heist::when_all(number(1), number(2));
        }
      }
    });
    outside.join();
  }
}

TEST_CASE("coroutine: an observer sees a task for each member but the first", "[coroutine]") {
  heist::executor<heist::policy::random, counts> ex{1};
  auto const tasks_with = [&ex](int pairs) {
    ex.wait_idle();
    int const before = ex.observer().begins;
    run_on(ex, [pairs]() -> heist::coroutine<> {
      for (int i = 0; i != pairs; ++i) co_await heist::when_all(number(1), number(2), number(3));
    });
    ex.wait_idle();
    return ex.observer().begins - before;
  };
  CHECK(tasks_with(10) - tasks_with(0) == 20);
  CHECK(ex.observer().begins == ex.observer().ends);
}

TEST_CASE("coroutine: members begin as tasks do, where the waiting task has modes and exceptions", "[coroutine]") {
  heist::executor ex{1};
  heist_test::watchdog guard{ex, 60s};
  for (int i = 0; i != 100; ++i) {
    CHECK(ex.submit([] {
              std::fesetround(FE_UPWARD);
              bool const right = heist::sync_wait(others_begin_afresh());
              std::fesetround(FE_TONEAREST);
              return right;
            }).get());
    CHECK(ex.submit([] {
              try {
                throw 1;
              } catch (int) {
                return heist::sync_wait(others_begin_afresh());
              }
            }).get());
    CHECK(ex.submit([] {
              bool right = false;
              struct waits_at_the_end {
                bool& result;
                ~waits_at_the_end() { result = heist::sync_wait(others_begin_afresh()); }
              };
              try {
                waits_at_the_end const unwound{right};
                throw 1;
              } catch (int) {
              }
              return right;
            }).get());
  }
}

TEST_CASE("coroutine: a task that resumes a member does not run the next one", "[coroutine]") {
  heist::executor ex{1};
  heist_test::watchdog guard{ex, 60s};
  heist::mutex m;
  std::coroutine_handle<> held;
  std::atomic<bool> ready{false};
  auto const waits = [&]() -> heist::coroutine<int> {
    co_await foreign_event{held};
    co_return 1;
  };
  auto const locks = [&]() -> heist::coroutine<int> {
    std::lock_guard const lock{m};
    co_return 2;
  };
  std::function<void()> const resumes = [&] {
    if (!held) return ex.post(resumes);
    std::lock_guard const lock{m};
    held.resume();
  };
  std::thread outside{[&] {
    ex.post([&] { ex.post(resumes); });
    ready = true;
  }};
  CHECK(run_on(ex, [&]() -> heist::coroutine<int> {
          while (!ready) std::this_thread::sleep_for(10us);
          std::this_thread::sleep_for(2ms);  // the request is seen before the next task
          auto const [a, b] = co_await heist::when_all(waits(), locks());
          co_return a + b;
        }) == 3);
  outside.join();
  ex.wait_idle();  // the task that resumes holds the mutex
}

TEST_CASE("coroutine: nor does a task that runs on top of a resumption, because there are no more fibers",
          "[coroutine]") {
  for (int i = 0; i != 20; ++i) {
    heist::executor ex{heist::options{.workers = 1, .max_fibers = 1}};
    heist::executor other{1};
    heist_test::watchdog guard{ex, 60s};
    heist::mutex m;
    std::coroutine_handle<> held;
    std::atomic<bool> ended{false};
    auto const waits = [&]() -> heist::coroutine<> { co_await foreign_event{held}; };
    auto const locks = [&]() -> heist::coroutine<> {
      std::lock_guard const lock{m};
      co_return;
    };
    auto const both = [&]() -> detached {
      co_await heist::when_all(waits(), locks());
      ended = true;
    };
    run_on(ex, [&]() -> heist::coroutine<> {
      both();
      ex.post([&] {
        std::lock_guard const lock{m};
        held.resume();
      });
      other.invoke([] { std::this_thread::sleep_for(1ms); });
      co_return;
    });
    ex.wait_idle();
    CHECK(ended);
  }
}

TEST_CASE("coroutine: wait_idle waits for members that were submitted before", "[coroutine]") {
  for (bool const in_resumptions : {false, true}) {
    for (int i = 0; i != 5; ++i) {
      heist::executor ex{1};
      heist_test::watchdog guard{ex, 60s};
      heist::latch goes_on{1};
      std::coroutine_handle<> held;
      std::atomic<bool> second_ended{false}, all_ended{false}, begun{false}, posted{false}, idle_too_early{false};
      auto const first = [&]() -> heist::coroutine<> { co_await foreign_event{held}; };
      auto const second = [&]() -> heist::coroutine<> {
        goes_on.wait();
        second_ended = true;
        co_return;
      };
      auto const both = [&]() -> detached {
        co_await heist::when_all(first(), second());
        all_ended = true;
      };
      // Occupies the worker until there is a request, of a later wave.
      auto const waits_for_request = [&] {
        begun = true;
        while (!posted) std::this_thread::sleep_for(10us);
        std::this_thread::sleep_for(1ms);
      };
      auto const resumes = [&]() -> heist::coroutine<> {
        held.resume();
        co_return;
      };
      auto const resumes_as_member = [&]() -> detached { co_await heist::when_all(number(1), resumes()); };
      std::thread begins{[&] {
        if (in_resumptions) {
          run_on(ex, [&]() -> heist::coroutine<> {
            both();
            waits_for_request();
            co_return;
          });
        } else {
          ex.post([&] {
            both();
            waits_for_request();
          });
        }
      }};
      std::thread waits{[&] {
        while (!begun) std::this_thread::sleep_for(10us);
        ex.wait_idle();
        idle_too_early = !second_ended;
      }};
      while (!begun) std::this_thread::sleep_for(10us);
      std::this_thread::sleep_for(5ms);  // it waits
      std::thread resumer{[&] {
        posted = true;
        if (in_resumptions) {
          ex.post(resumes_as_member);
        } else {
          ex.post([&] { ex.post([&] { held.resume(); }); });
        }
      }};
      std::this_thread::sleep_for(10ms);
      goes_on.count_down();
      waits.join();
      CHECK_FALSE(idle_too_early);
      begins.join();
      resumer.join();
      while (!all_ended) std::this_thread::sleep_for(10us);
    }
  }
}

TEST_CASE("coroutine: when_all in a child of fork() refuses what it cannot begin", "[coroutine]") {
  if (heist::under_tsan || heist::under_asan) return;  // their runtimes do not go on in a child of threads
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  int const status = run_on(ex, []() -> heist::coroutine<int> {
    pid_t const child = ::fork();
    if (child == 0) {
      bool refused = false;
      int first = 0;
      auto const begins = [](int& begun) -> heist::coroutine<> {
        ++begun;
        co_return;
      };
      try {
        co_await heist::when_all(begins(first), number(2), number(3));
      } catch (heist::executor_error const&) {
        refused = true;
      }
      ::_exit(refused && first == 1 ? 0 : 1);
    }
    int ended = -1;
    ::waitpid(child, &ended, 0);
    co_return ended;
  });
  CHECK(status == 0);
}

#endif
