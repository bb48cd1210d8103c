// Coroutines: values, exceptions, awaited operations, the executor where they resume, and coroutines that never run.
#include "heist/coroutine.hpp"

#include "heist/core/base/config.hpp"

#if HEIST_COROUTINES

#include <atomic>
#include <coroutine>
#include <exception>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "heist/async.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;

namespace {

heist::coroutine<int> add_later(heist::executor<>& ex, int a, int b) {
  co_await heist::resume_on(ex);
  int const x = co_await ex.submit([a] { return a; });
  heist::task_graph g;
  int y = 0;
  g.emplace([&] { y = b; });
  co_await ex.run(g);
  co_return x + y;
}

heist::coroutine<int> goes_to(heist::executor<>& ex, bool throws) {
  co_await heist::resume_on(ex);
  if (throws) throw std::runtime_error{"there"};
  co_return 1;
}

/// Awaits a coroutine that moves to `ex`, and comes back.
heist::coroutine<int> goes_further(heist::executor<>& ex) {
  co_return co_await goes_to(ex, false);
}

heist::coroutine<int> comes_to_its_scheduler(heist::executor<>& scheduler, heist::executor<>& other,
                                             std::thread::id at_its_scheduler) {
  co_await heist::resume_on(scheduler);
  int times = 0;
  int sum = co_await goes_to(other, false);
  times += std::this_thread::get_id() == at_its_scheduler;
  sum += co_await goes_further(other);
  times += std::this_thread::get_id() == at_its_scheduler;
  bool thrown = false;
  try {
    co_await goes_to(other, true);
  } catch (std::runtime_error const&) {
    thrown = std::this_thread::get_id() == at_its_scheduler;
  }
  co_await goes_to(scheduler, false);
  times += std::this_thread::get_id() == at_its_scheduler;
  co_return sum == 2 && thrown ? times + 1 : 0;
}

heist::coroutine<std::thread::id> stays_there(heist::executor<>& other) {
  co_await goes_to(other, false);
  co_return std::this_thread::get_id();
}

heist::coroutine<std::string> text_of(heist::executor<>& ex, int i) {
  auto f = ex.submit([i] {
    if (i % 13 == 12) throw std::runtime_error{std::to_string(i)};
    return std::to_string(i);
  });
  auto shared = f.share();
  std::string const& s = co_await shared;
  co_return s;
}

heist::coroutine<int> total(heist::executor<>& ex, int n) {
  co_await heist::resume_on(ex);
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    try {
      sum += std::stoi(co_await text_of(ex, i));
    } catch (std::runtime_error const& e) {
      sum += std::stoi(e.what());
    }
  }
  co_return sum;
}

heist::coroutine<> step(int& n) {
  ++n;
  co_return;
}

heist::coroutine<int> deep(int n) {
  if (n == 0) co_return 0;
  co_return 1 + co_await deep(n - 1);
}

heist::coroutine<int&> same(int& n) {
  co_return n;
}

heist::coroutine<std::thread::id> where(heist::executor<>& ex) {
  co_await heist::resume_on(ex);
  co_return std::this_thread::get_id();
}

heist::coroutine<int> event_value(heist::executor<>& ex, heist::event<int> const& e) {
  co_await heist::resume_on(ex);
  co_return co_await e + 1;
}

heist::coroutine<> event_happens(heist::executor<>& ex, heist::event<> const& e) {
  co_await heist::resume_on(ex);
  co_await e;
}

}  // namespace

TEST_CASE("coroutine: events of a graph that runs", "[coroutine]") {
  heist::executor ex{2};
  heist_test::watchdog guard{"events", 60s, [&] { return ex.state_text(); }};
  heist::task_graph g;
  heist::event<int> const number = g.emplace_event<int>();
  heist::event<> const signal = g.emplace_event<>();
  CHECK_THROWS_AS(heist::sync_wait(event_value(ex, number)), heist::graph_error);  // no run
  for (int i = 0; i < 50; ++i) {
    auto run = ex.run(g);
    std::thread outside{[&] {
      number.set_value(i);
      signal.set_value();
    }};
    if (i % 2 == 0) std::this_thread::yield();
    CHECK(heist::sync_wait(event_value(ex, number)) == i + 1);
    heist::sync_wait(event_happens(ex, signal));
    run.get();
    outside.join();
    CHECK(heist::sync_wait(event_value(ex, number)) == i + 1);  // until the next run
  }
  // A run that is stopped, or fails, has no value to await.
  for (bool const fails : {false, true}) {
    std::stop_source stop;
    auto run = ex.run(g, heist::with{.stop = stop.get_token()});
    heist::future<bool> rejected = ex.submit([&] {
      try {
        heist::sync_wait(event_value(ex, number));
        return false;
      } catch (heist::graph_error const&) {
        return true;
      }
    });
    fails ? signal.set_exception(std::make_exception_ptr(std::runtime_error{"no signal"})) : void(stop.request_stop());
    CHECK(rejected.get());
    if (fails) {
      CHECK_THROWS_WITH(run.get(), "no signal");
    } else {
      CHECK_THROWS_AS(run.get(), heist::stopped_error);
      CHECK(run.stopped());
    }
  }
  // Conditions lead around an event.
  heist::task_graph around;
  heist::event<> const never = around.emplace_event<>();
  auto choose = around.emplace_condition([] { return 1; });
  auto last = around.emplace([] {});
  choose.precede(never, last);
  auto run = ex.run(around);
  CHECK_THROWS_AS(heist::sync_wait(event_happens(ex, never)), heist::graph_error);
  run.get();
}

TEST_CASE("coroutine: values and exceptions, of futures, runs and other coroutines", "[coroutine]") {
  for (std::size_t workers : {1, 2}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{"coroutine", 60s, [&] { return ex.state_text(); }};
    for (int i = 0; i < 100; ++i) CHECK(heist::sync_wait(add_later(ex, i, 2)) == i + 2);
    CHECK(heist::sync_wait(total(ex, 200)) == 199 * 100);
    CHECK_THROWS_WITH(heist::sync_wait(text_of(ex, 12)), "12");
    int n = 0;
    heist::sync_wait(step(n));
    CHECK(n == 1);
    CHECK(&heist::sync_wait(same(n)) == &n);
    CHECK(heist::sync_wait(deep(500)) == 500);
    CHECK(heist::sync_wait(where(ex)) != std::this_thread::get_id());
    // In a task it parks that.
    CHECK(ex.invoke([&] { return heist::sync_wait(total(ex, 20)); }) == 190);
    ex.wait_idle();
  }
}

TEST_CASE("coroutine: neither loops of awaits nor recursion use the stack", "[coroutine][deep]") {
  constexpr int n = heist::under_tsan ? 5000 : 200000;  // ThreadSanitizer keeps a stack of its own
  heist::executor ex{2};
  heist_test::watchdog guard{"deep", 60s, [&] { return ex.state_text(); }};
  auto const loop = [](heist::executor<>* on, int times) -> heist::coroutine<int> {
    if (on != nullptr) co_await heist::resume_on(*on);
    int done = 0;
    for (int i = 0; i < times; ++i) co_await step(done);
    for (int i = 0; i < times; ++i) done += co_await deep(1);
    co_return done;
  };
  CHECK(heist::sync_wait(loop(nullptr, n)) == 2 * n);
  CHECK(heist::sync_wait(loop(&ex, n)) == 2 * n);
  CHECK(heist::sync_wait(deep(n)) == n);
  CHECK(ex.invoke([] { return heist::sync_wait(deep(n)); }) == n);
  // Its body parks, and continues on any worker; and it goes away and comes back.
  auto const parks = [](heist::executor<>& on, int times) -> heist::coroutine<int> {
    co_await heist::resume_on(on);
    int sum = 0;
    for (int i = 0; i < times; ++i) {
      sum += on.submit([] { return 1; }).get();
      co_await step(sum);
      if (i % 4 == 0) sum += co_await on.submit([] { return 1; });
      co_await step(sum);
    }
    co_return sum;
  };
  CHECK(heist::sync_wait(parks(ex, n / 20)) == n / 20 * 3 + (n / 20 + 3) / 4);
  auto const goes_away = [](heist::executor<>& other, int times) -> heist::coroutine<int> {
    int sum = 0;
    for (int i = 0; i < times; ++i) sum += co_await goes_to(other, false);
    co_return sum;
  };
  CHECK(heist::sync_wait(goes_away(ex, n / 20)) == n / 20);
}

namespace {

/// Resumes what waits at it, in its own stack, as a library's event may.
struct external_event {
  std::atomic<void*> waits{nullptr};
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> h) noexcept { waits = h.address(); }
  void await_resume() const noexcept {}
};

}  // namespace

TEST_CASE("coroutine: one that other code resumes goes on at once, with those that wait for it", "[coroutine]") {
  heist::executor ex{1};
  heist_test::watchdog guard{"foreign", 60s, [&] { return ex.state_text(); }};
  external_event event;
  int after = 0;
  auto const inner = [](external_event& e) -> heist::coroutine<int> {
    co_await e;
    co_return 1;
  };
  auto const waits = [&]() -> heist::coroutine<int> {
    int const x = co_await inner(event);
    after = x;
    co_return x;
  };
  auto const sets = [&]() -> heist::coroutine<bool> {
    co_await heist::resume_on(ex);
    std::coroutine_handle<>::from_address(event.waits).resume();
    bool const at_once = after == 1;
    int n = 0;
    for (int i = 0; i < 1000; ++i) co_await step(n);
    co_return at_once&& n == 1000;
  };
  std::atomic<int> got{0};
  std::thread waiter{[&] { got = heist::sync_wait(waits()); }};
  CHECK(ex.invoke([&] {
    while (event.waits == nullptr) std::this_thread::yield();
    return heist::sync_wait(sets());
  }));
  waiter.join();
  CHECK(got == 1);
}

TEST_CASE("coroutine: a value made of braces", "[coroutine]") {
  auto const both = []() -> heist::coroutine<std::pair<int, std::string>> { co_return {1, "two"}; };
  CHECK(heist::sync_wait(both()) == std::pair<int, std::string>{1, "two"});
}

TEST_CASE("coroutine: one that is never awaited destroys what it was given, and is awaited once", "[coroutine]") {
  heist::executor ex{1};
  auto const kept = std::make_shared<int>(1);
  {
    auto const never = [](std::shared_ptr<int> p) -> heist::coroutine<int> { co_return *p; }(kept);
    CHECK(kept.use_count() == 2);
    CHECK(never.valid());
  }
  CHECK(kept.use_count() == 1);
  auto once = deep(1);
  CHECK(heist::sync_wait(std::move(once)) == 1);
  CHECK_FALSE(once.valid());
  CHECK_THROWS_AS(heist::sync_wait(std::move(once)), heist::executor_error);
}

TEST_CASE("coroutine: it goes on on its own executor, wherever what it has awaited has ended", "[coroutine]") {
  heist::executor scheduler{1}, other{1};
  heist_test::watchdog guard{"comes home", 60s, [&] { return scheduler.state_text() + other.state_text(); }};
  auto const at_its_scheduler = scheduler.invoke([] { return std::this_thread::get_id(); });
  for (int i = 0; i < 100; ++i)
    CHECK(heist::sync_wait(comes_to_its_scheduler(scheduler, other, at_its_scheduler)) == 4);
  // One that belongs nowhere goes on where it is.
  auto const there = other.invoke([] { return std::this_thread::get_id(); });
  CHECK(heist::sync_wait(stays_there(other)) == there);
}

TEST_CASE("coroutine: many at a time, none of which holds a fiber", "[coroutine]") {
  heist::executor ex{heist::options{.workers = 2, .max_fibers = 16}};
  heist_test::watchdog guard{"many", 60s, [&] { return ex.state_text(); }};
  std::atomic<bool> open{false};
  auto gate = ex.submit([&] {
                  while (!open) std::this_thread::yield();
                  return 1;
                }).share();
  std::vector<std::thread> waiting;
  std::atomic<int> sum{0};
  auto const member = [](heist::shared_future<int> f, int n) -> heist::coroutine<int> {
    int s = 0;
    for (int i = 0; i < n; ++i) s += co_await f;
    co_return s;
  };
  for (int t = 0; t < 4; ++t) waiting.emplace_back([&] { sum += heist::sync_wait(member(gate, 1000)); });
  open = true;
  for (std::thread& t : waiting) t.join();
  CHECK(sum == 4000);
}

#endif
