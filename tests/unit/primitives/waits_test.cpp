// Every primitive: tasks, threads and coroutines wait for it; stops and time limits end the wait, and nothing is lost.
#include <heist/coroutine.hpp>
#include <heist/graph.hpp>
#include <heist/heist.hpp>
#include <heist/sync.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/watchdog.hpp"

namespace {

using namespace std::chrono_literals;

/// In tasks and coroutines, where Catch's assertions may not stand.
void must(bool condition) {
  if (!condition) std::abort();
}

/// Something that is held, so that the next one waits.
struct held {
  virtual ~held() = default;
  virtual void wait() = 0;                                    ///< until it is given
  virtual bool wait_for(std::chrono::milliseconds time) = 0;  ///< false: in vain
  virtual heist::coroutine<void> wait_async() = 0;
  virtual void give() = 0;
  virtual bool is_whole() = 0;  ///< after one has had it, or none: can it be had again, once?
};

template <class Mutex>
struct held_mutex final : held {
  held_mutex() { m.lock(); }
  void wait() override { std::scoped_lock lock{m}; }
  bool wait_for(std::chrono::milliseconds time) override {
    if constexpr (requires { m.try_lock_for(time); }) {
      bool const had = m.try_lock_for(time);
      if (had) m.unlock();
      return had;
    } else {
      std::this_thread::sleep_for(time);
      return m.try_lock() ? (m.unlock(), true) : false;
    }
  }
  heist::coroutine<void> wait_async() override {
    if constexpr (requires { m.lock_async(); }) {
      auto const lock = co_await m.lock_async();
    } else {
      wait();
    }
  }
  void give() override { m.unlock(); }
  bool is_whole() override { return m.try_lock() && (m.unlock(), true); }
  Mutex m;
};
struct held_reading final : held {
  held_reading() { m.lock(); }
  void wait() override { std::shared_lock lock{m}; }
  bool wait_for(std::chrono::milliseconds time) override {
    return m.try_lock_shared_for(time) && (m.unlock_shared(), true);
  }
  heist::coroutine<void> wait_async() override { auto const lock = co_await m.lock_shared_async(); }
  void give() override { m.unlock(); }
  bool is_whole() override { return m.try_lock() && (m.unlock(), true); }
  heist::shared_mutex m;
};
struct held_semaphore final : held {
  void wait() override { s.acquire(), s.release(); }
  bool wait_for(std::chrono::milliseconds time) override { return s.try_acquire_for(time) && (s.release(), true); }
  heist::coroutine<void> wait_async() override {
    co_await s.acquire_async();
    s.release();
  }
  void give() override { s.release(); }
  bool is_whole() override { return s.try_acquire() && !s.try_acquire() && (s.release(), true); }
  heist::counting_semaphore<> s{0};
};
struct held_latch final : held {
  void wait() override { l.wait(); }
  bool wait_for(std::chrono::milliseconds time) override {
    std::this_thread::sleep_for(time);
    return l.try_wait();
  }
  heist::coroutine<void> wait_async() override { co_await l.wait_async(); }
  void give() override { l.count_down(); }
  bool is_whole() override { return l.try_wait(); }
  heist::latch l{1};
};
struct held_event final : held {
  void wait() override { e.wait(); }
  bool wait_for(std::chrono::milliseconds time) override { return e.wait_for(time); }
  heist::coroutine<void> wait_async() override { co_await e.wait_async(); }
  void give() override { e.set(); }
  bool is_whole() override { return e.is_set(); }
  heist::manual_reset_event e;
};
struct held_barrier final : held {
  void wait() override { b.arrive_and_wait(); }
  bool wait_for(std::chrono::milliseconds time) override { return std::this_thread::sleep_for(time), false; }
  heist::coroutine<void> wait_async() override { co_await b.arrive_and_wait_async(); }
  void give() override { static_cast<void>(b.arrive()); }
  bool is_whole() override { return true; }
  heist::barrier<> b{2};
};
struct held_condition final : held {
  void wait() override {
    std::unique_lock lock{m};
    c.wait(lock, [this] { return is_set; });
  }
  bool wait_for(std::chrono::milliseconds time) override {
    std::unique_lock lock{m};
    return c.wait_for(lock, time, [this] { return is_set; });
  }
  heist::coroutine<void> wait_async() override {
    wait();
    co_return;
  }
  void give() override {
    std::unique_lock lock{m};
    is_set = true;
    lock.unlock();
    c.notify_all();
  }
  bool is_whole() override { return m.try_lock() && (m.unlock(), true); }
  heist::mutex m;
  heist::condition_variable_any c;
  bool is_set = false;
};
struct held_push final : held {
  held_push() { must(c.push(std::make_unique<int>(1))); }
  void wait() override { must(c.push(std::make_unique<int>(2))); }
  bool wait_for(std::chrono::milliseconds time) override { return c.push_for(std::make_unique<int>(2), time); }
  heist::coroutine<void> wait_async() override {
    bool const done = co_await c.push_async(std::make_unique<int>(2));
    must(done);
  }
  void give() override { must(c.pop().has_value()); }
  bool is_whole() override {
    return c.size() <= 1 && (static_cast<void>(c.try_pop()), c.try_push(std::make_unique<int>(3)));
  }
  heist::channel<std::unique_ptr<int>> c{1};
};
struct held_pop final : held {
  void wait() override { must(c.pop().has_value()); }
  bool wait_for(std::chrono::milliseconds time) override { return c.pop_for(time).has_value(); }
  heist::coroutine<void> wait_async() override {
    auto const had = co_await c.pop_async();
    must(had.has_value());
  }
  void give() override { must(c.push(std::make_unique<int>(1))); }
  bool is_whole() override {
    return c.size() <= 1 && (static_cast<void>(c.try_pop()), c.try_push(std::make_unique<int>(3)));
  }
  heist::channel<std::unique_ptr<int>> c{3};
};

struct kind {
  char const* name;
  std::function<std::unique_ptr<held>()> make;
};
std::vector<kind> kinds() {
  return {{"mutex", [] { return std::make_unique<held_mutex<heist::mutex>>(); }},
          {"timed_mutex", [] { return std::make_unique<held_mutex<heist::timed_mutex>>(); }},
          {"recursive_mutex", [] { return std::make_unique<held_mutex<heist::recursive_mutex>>(); }},
          {"shared_mutex", [] { return std::make_unique<held_mutex<heist::shared_mutex>>(); }},
          {"shared_mutex, reading", [] { return std::make_unique<held_reading>(); }},
          {"counting_semaphore", [] { return std::make_unique<held_semaphore>(); }},
          {"latch", [] { return std::make_unique<held_latch>(); }},
          {"manual_reset_event", [] { return std::make_unique<held_event>(); }},
          {"barrier", [] { return std::make_unique<held_barrier>(); }},
          {"condition_variable_any", [] { return std::make_unique<held_condition>(); }},
          {"channel, push", [] { return std::make_unique<held_push>(); }},
          {"channel, pop", [] { return std::make_unique<held_pop>(); }}};
}

template <class Executor>
void until_parked(Executor const& ex, std::size_t n = 1) {
  for (std::size_t found = 0; found < n;) {
    std::string const text = ex.state_text();
    found = 0;
    for (std::size_t at = text.find("waits for"); at != std::string::npos; at = text.find("waits for", at + 1)) ++found;
    std::this_thread::yield();
  }
}

/// Calls `test(executor, what, kind)` for each kind; `what` is held.
template <class Test>
void with_each(std::size_t workers, Test test) {
  for (kind const& k : kinds()) {
    INFO(k.name);
    heist::executor ex{workers};
    heist_test::watchdog guard{ex, 60s, k.name};
    auto const what = k.make();
    test(ex, *what, k);
  }
}

}  // namespace

TEST_CASE("primitives: a task parks and its worker goes on", "[primitives]") {
  with_each(1, [](auto& ex, held& what, kind const&) {
    auto waits = ex.submit([&] { what.wait(); });
    until_parked(ex);
    CHECK(ex.submit([] { return 1; }).get() == 1);  // the only worker is free
    what.give();
    waits.get();
    CHECK(what.is_whole());
  });
}

TEST_CASE("primitives: a thread outside waits", "[primitives]") {
  with_each(1, [](auto& ex, held& what, kind const&) {
    std::jthread waits{[&] { what.wait(); }};
    until_parked(ex);
    // The owner of a mutex gives it back.
    what.give();
    waits.join();
    CHECK(what.is_whole());
  });
}

TEST_CASE("primitives: a coroutine waits", "[primitives]") {
  with_each(2, [](auto& ex, held& what, kind const& k) {
    auto waits = ex.submit([&] { heist::sync_wait(what.wait_async()); });
    until_parked(ex);
    what.give();
    waits.get();
    CHECK(what.is_whole());
    auto const again = k.make();  // on no executor
    std::jthread blocks{[&] { heist::sync_wait(again->wait_async()); }};
    until_parked(ex);
    again->give();
  });
}

TEST_CASE("primitives: a stop ends each wait, and nothing is lost", "[primitives]") {
  for (bool const by_coroutine : {false, true}) {
    INFO((by_coroutine ? "a coroutine" : "a task"));
    with_each(1, [by_coroutine](auto& ex, held& what, kind const&) {
      std::stop_source stop;
      auto waits = ex.submit(heist::with{.stop = stop.get_token()}, [&] {
        if (by_coroutine) {
          heist::sync_wait(what.wait_async());
        } else {
          what.wait();
        }
      });
      until_parked(ex);
      stop.request_stop();
      CHECK_THROWS_AS(waits.get(), heist::stopped_error);
      what.give();
      CHECK(what.is_whole());
    });
  }
}

TEST_CASE("primitives: a time limit ends each wait, in a task and outside", "[primitives]") {
  with_each(2, [](auto& ex, held& what, kind const&) {
    auto const begin = std::chrono::steady_clock::now();
    CHECK_FALSE(ex.submit([&] { return what.wait_for(5ms); }).get());
    std::thread{[&] { must(!what.wait_for(5ms)); }}.join();
    CHECK(std::chrono::steady_clock::now() - begin >= 10ms);
    what.give();
    CHECK(what.is_whole());
  });
}

TEST_CASE("primitives: a deadline ends each wait, and what has not begun does not begin", "[primitives]") {
  with_each(1, [](auto& ex, held& what, kind const&) {
    auto const soon = std::chrono::steady_clock::now() + 5ms;
    auto waits = ex.submit(heist::with{.deadline = soon}, [&] { what.wait(); });
    CHECK_THROWS_AS(waits.get(), heist::stopped_error);
    auto const over = std::chrono::system_clock::now() - 1s;
    std::atomic<bool> begun{false};
    auto late = ex.submit([&] { std::this_thread::sleep_for(2ms); });
    CHECK_THROWS_AS(ex.submit(heist::with{.deadline = over}, [&] { begun = true; }).get(), heist::stopped_error);
    CHECK_FALSE(begun);
    what.give();
    CHECK(what.is_whole());
  });
}

TEST_CASE("primitives: stops and gifts at the same time, many times", "[primitives]") {
  constexpr int rounds = heist::under_tsan || heist::under_asan ? 60 : 400;
  with_each(2, [](auto& ex, held&, kind const& k) {
    for (int i = 0; i < rounds; ++i) {
      auto const what = k.make();
      std::stop_source stop;
      std::atomic<bool> goes{false};
      auto waits = ex.submit(heist::with{.stop = stop.get_token()}, [&] {
        goes = true;
        what->wait();
      });
      while (!goes) std::this_thread::yield();
      std::jthread stops{[&] { stop.request_stop(); }};
      what->give();
      try {
        waits.get();
      } catch (heist::stopped_error const&) {
      }
      stops.join();
      CHECK(what->is_whole());
    }
  });
}

TEST_CASE("primitives: a deadline of a run", "[primitives]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 20s};
  heist::manual_reset_event never;
  heist::task_graph g;
  g.emplace([&] { never.wait(); });
  auto run = ex.run(g, heist::with{.deadline = std::chrono::steady_clock::now() + 5ms});
  run.wait();
  CHECK(run.stopped());
  std::stop_source stop;  // with a token besides
  auto both = ex.run(g, heist::with{.stop = stop.get_token(), .deadline = std::chrono::steady_clock::now() + 1h});
  until_parked(ex);
  stop.request_stop();
  both.wait();
  CHECK(both.stopped());
}
