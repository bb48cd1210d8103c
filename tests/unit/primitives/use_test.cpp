// Primitives as programs use them: with one worker, under every policy, with other executors, for long, and wrongly.
#include <heist/coroutine.hpp>
#include <heist/graph.hpp>
#include <heist/heist.hpp>
#include <heist/locality.hpp>
#include <heist/sync.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <mutex>
#include <numeric>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "faults/child_process.hpp"
#include "support/catch.hpp"
#include "support/state_text.hpp"
#include "support/watchdog.hpp"
#include "unit/fork/every_policy.hpp"
#include "unit/fork/tiers.hpp"

namespace {

using namespace std::chrono_literals;
constexpr bool slow = heist::under_tsan || heist::under_asan;

constinit heist::mutex global;  // as std::mutex, before everything else

template <class Mutex>
struct held {
  held() { m.lock(); }
  Mutex m;
};

template <class Body>
void ends_with(char const* words, Body body) {
  auto const report = heist_test::run_child(body);
  INFO(report.text());
  CHECK(report.signal == SIGABRT);
  CHECK(report.says(words));
  CHECK(report.says("fix it by"));
}

}  // namespace

// The first test: others have made threads, and a child that is made by fork() would not have them.
TEST_CASE("primitives: what is wrong and cannot be thrown ends the program with a sentence", "[primitives]") {
  ends_with("that is not locked", [] { heist::mutex{}.unlock(); });
  ends_with("that another task or thread has locked", [] {
    heist::mutex m;
    m.lock();
    heist::executor ex{1};
    ex.submit([&] { m.unlock(); }).get();
  });
  ends_with("that has no writer", [] { heist::shared_mutex{}.unlock(); });
  ends_with("that has no writer", [] {
    heist::shared_mutex m;
    heist::executor ex{1};
    ex.submit([&] {
        m.lock_shared();
        m.unlock();
      }).get();
  });
  ends_with("that another task or thread writes", [] {
    heist::shared_mutex m;
    m.lock();
    heist::executor ex{1};
    ex.submit([&] { m.unlock(); }).get();
  });
  ends_with("that has no reader", [] { heist::shared_mutex{}.unlock_shared(); });
  auto const destroyed = [](auto made, auto wait) {
    return [made, wait] {
      heist::executor ex{1};
      auto object = made();
      auto f = ex.submit([&] { wait(*object); });
      while (ex.state_text().find("waits for") == std::string::npos) std::this_thread::yield();
      object.reset();
    };
  };
  ends_with("heist mutex is destroyed while a task or thread waits",
            destroyed([] { return std::make_unique<held<heist::mutex>>(); }, [](auto& h) { h.m.lock(); }));
  ends_with(
      "shared_mutex is destroyed while a task or thread waits",
      destroyed([] { return std::make_unique<held<heist::shared_mutex>>(); }, [](auto& h) { h.m.lock_shared(); }));
  ends_with("event is destroyed while a task or thread waits",
            destroyed([] { return std::make_unique<heist::manual_reset_event>(); }, [](auto& e) { e.wait(); }));
  ends_with("counting_semaphore is destroyed while",
            destroyed([] { return std::make_unique<heist::counting_semaphore<>>(0); }, [](auto& s) { s.acquire(); }));
  ends_with("channel is destroyed while",
            destroyed([] { return std::make_unique<heist::channel<int>>(1); }, [](auto& c) { c.pop(); }));
  ends_with("condition_variable_any is destroyed while",
            destroyed([] { return std::make_unique<heist::condition_variable_any>(); },
                      [](auto& c) {
                        std::mutex m;
                        std::unique_lock lock{m};
                        c.wait(lock);
                      }));
}

TEST_CASE("primitives: time limits in a child of fork() have a thread of their own", "[primitives]") {
  auto const waits = [] {
    heist::executor ex{1};
    heist::counting_semaphore<> s{0};
    return ex.submit([&] { return s.try_acquire_for(1ms); }).get();
  };
  auto const report = heist_test::run_child([&] {
    if (waits()) std::abort();
    auto const inner = heist_test::run_child([&] {
      if (waits()) std::abort();
    });
    if (!inner.clean()) std::abort();
  });
  INFO(report.text());
  CHECK(report.clean());
}

TEST_CASE("primitives: mistakes that can be thrown", "[primitives]") {
  heist::executor ex{1};
  heist::mutex m;
  CHECK_THROWS_AS(ex.submit([&] {
                      std::scoped_lock lock{m};
                      m.lock();
                    }).get(),
                  std::system_error);
  {
    std::scoped_lock lock{m};
    CHECK_THROWS_AS(m.lock(), std::system_error);
  }
  heist::shared_mutex s;
  auto const again = [&] {
    std::unique_lock lock{s};
    CHECK_THROWS_AS(s.lock(), std::system_error);
    CHECK_THROWS_AS(s.lock_shared(), std::system_error);
  };
  again();
  ex.submit(again).get();
  CHECK(m.try_lock());
  m.unlock();
  CHECK(global.try_lock());
  global.unlock();
  std::unique_lock not_locked{m, std::defer_lock};
  heist::condition_variable_any c;
  CHECK_THROWS_AS(c.wait(not_locked), std::system_error);
  c.notify_all();
  CHECK_THROWS_AS(heist::latch{-1}, heist::executor_error);
  heist::latch l{1};
  CHECK_THROWS_AS(l.count_down(2), heist::executor_error);
  CHECK_THROWS_AS(heist::barrier<>{-1}, heist::executor_error);
  heist::barrier b{2};
  CHECK_THROWS_AS(b.arrive(3), heist::executor_error);
  CHECK_THROWS_AS(heist::counting_semaphore<4>{5}, heist::graph_error);
  CHECK_THROWS_AS(heist::counting_semaphore<>{1}.release(-1), heist::graph_error);
  CHECK_THROWS_AS(heist::channel<int>{0}, heist::executor_error);
}

TEMPLATE_LIST_TEST_CASE("primitives: under every policy, with two squads", "[primitives]", heist_test::every_policy) {
  heist::executor<TestType> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s, "all primitives"};
  int const tasks = slow ? 20 : 60;
  heist::mutex m{"sum"};
  heist::shared_mutex table;
  heist::counting_semaphore<> permits{3};
  heist::condition_variable_any changed;
  heist::channel<int> numbers{2};
  long sum = 0, popped = 0;
  std::atomic<int> inside{0}, most{0};
  std::vector<heist::future<void>> all;
  for (int i = 0; i < tasks; ++i) {
    all.push_back(ex.submit([&, i](auto ctx) {
      permits.acquire();
      int const now = ++inside;
      for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
      }
      {
        std::scoped_lock lock{m};
        sum += ctx.submit([i] { return i; }).get();
        changed.notify_all();
      }
      {
        std::shared_lock lock{table};
        ctx.submit([] {}).get();
      }
      if (i % 8 == 0) std::scoped_lock{table};
      --inside;
      permits.release();
      numbers.push(i);
    }));
  }
  auto server = ex.submit([&] {
    while (auto n = numbers.pop()) popped += *n;
  });
  auto waits = ex.submit([&] {
    std::unique_lock lock{m};
    changed.wait(lock, [&] { return sum == tasks * (tasks - 1) / 2; });
  });
  for (auto& f : all) f.get();
  numbers.close();
  server.get();
  waits.get();
  CHECK(most <= 3);
  CHECK(popped == sum);
}

TEST_CASE("primitives: a task holds a mutex over a fork, a join and a wait", "[primitives]") {
  heist::executor ex{4};
  heist_test::watchdog guard{ex, 60s};
  heist::mutex m;
  long sum = 0;
  std::vector<heist::future<void>> all;
  for (int i = 0; i < (slow ? 50 : 400); ++i) {
    all.push_back(ex.submit([&](auto ctx) {
      std::scoped_lock lock{m};
      auto const [a, b] = ctx.fork_join([] { return 1; }, [&](auto c) { return c.submit([] { return 2; }).get(); });
      sum += a + b;
    }));
  }
  for (auto& f : all) f.get();
  CHECK(sum == 3 * static_cast<long>(all.size()));
}

TEST_CASE("primitives: the last one that unlocks a mutex destroys it", "[primitives]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  struct counted {
    heist::mutex m;
    int left = 3;
  };
  for (int i = 0; i < (slow ? 300 : 3000); ++i) {
    auto* const object = new counted;
    auto const leave = [object] {
      std::unique_lock lock{object->m};
      bool const last = --object->left == 0;
      lock.unlock();
      if (last) delete object;
    };
    auto a = ex.submit(leave), b = ex.submit(leave);
    leave();
    a.get();
    b.get();
  }
}

TEST_CASE("primitives: readers and a latch of their last one", "[primitives]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  for (int i = 0; i < (slow ? 200 : 2000); ++i) {
    auto done = std::make_unique<heist::latch>(2);
    auto value = std::make_unique<int>(0);
    auto a = ex.submit([&] { done->count_down(); });
    auto b = ex.submit([&] { done->count_down(); });
    done->wait();
    done.reset();  // the last call of count_down() may not have returned
    a.get();
    b.get();
  }
}

TEST_CASE("primitives: a recursive mutex is had as often as it is locked", "[primitives]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  heist::recursive_mutex m;
  int count = 0;
  auto const nests = [&](auto self, auto ctx, int depth) -> void {
    std::scoped_lock lock{m};
    ++count;
    if (depth % 3 == 0) ctx.submit([] {}).get();
    if (depth != 0) self(self, ctx, depth - 1);
  };
  auto a = ex.submit([&](auto ctx) { nests(nests, ctx, 20); }), b = ex.submit([&](auto ctx) { nests(nests, ctx, 20); });
  a.get();
  b.get();
  CHECK(count == 42);
}

TEST_CASE("primitives: nobody who waits for a mutex is overtaken for ever", "[primitives]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  heist::mutex m;
  std::atomic<bool> ends{false};
  // Two that lock it again and again leave no room; the third one gets it all the same.
  auto const greedy = [&](auto ctx) {
    while (!ends) {
      std::scoped_lock lock{m};
      if (ends) ctx.submit([] {}).get();
    }
  };
  auto a = ex.submit(greedy), b = ex.submit(greedy);
  std::thread{[&] {
    for (int i = 0; i < 100; ++i) std::scoped_lock{m};
  }}.join();
  ends = true;
  a.get();
  b.get();
}

TEST_CASE("primitives: permits are shared by tasks of graphs and by code in tasks, in turn", "[primitives]") {
  heist::executor ex{3};
  heist_test::watchdog guard{ex, 60s};
  heist::counting_semaphore<> permits{2};
  std::atomic<int> inside{0};
  std::atomic<bool> wrong{false};
  auto const work = [&] {
    if (++inside > 2) wrong = true;
    std::this_thread::yield();
    --inside;
  };
  heist::task_graph g;
  for (int i = 0; i < 50; ++i) g.emplace(work).limit(permits);
  auto run = ex.run(g);
  std::vector<heist::future<void>> all;
  for (int i = 0; i < 50; ++i) {
    all.push_back(ex.submit([&] {
      permits.acquire();
      work();
      permits.release();
    }));
  }
  run.get();
  for (auto& f : all) f.get();
  CHECK_FALSE(wrong);
  CHECK(permits.available() == 2);
  // A graph task that wants both is not overtaken by those that want one.
  heist::task_graph needs;
  needs.emplace([&] { inside += 2; }).acquire(permits, 2).release(permits, 2);
  permits.acquire();
  auto both = ex.run(needs);
  while (ex.state_text().find("waits for a limiter") == std::string::npos) std::this_thread::yield();
  CHECK_FALSE(permits.try_acquire());
  permits.release();
  both.get();
  CHECK(permits.available() == 2);
}

TEST_CASE("primitives: channels of every capacity, many to many, in order", "[primitives]") {
  heist::executor ex{3};
  heist_test::watchdog guard{ex, 60s};
  for (std::size_t const capacity :
       {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{64}, std::size_t{100}}) {
    heist::channel<std::pair<int, int>> c{capacity};
    int const each = slow ? 200 : 2000;
    std::vector<heist::future<void>> pushes, pops;
    std::atomic<long> sum{0};
    std::atomic<bool> wrong{false};
    for (int p = 0; p < 4; ++p) {
      pushes.push_back(ex.submit([&, p] {
        for (int i = 0; i < each; ++i) c.push({p, i});
      }));
      pops.push_back(ex.submit([&] {
        std::vector<int> last(4, -1);
        while (auto v = c.pop()) {
          auto& before = last[static_cast<std::size_t>(v->first)];
          if (v->second <= before) wrong = true;
          before = v->second;
          sum += v->second;
        }
      }));
    }
    for (auto& f : pushes) f.get();
    c.close();
    for (auto& f : pops) f.get();
    CHECK(sum == 4L * each * (each - 1) / 2);
    CHECK_FALSE(wrong);
    CHECK(c.size() == 0);
  }
}

TEST_CASE("primitives: a barrier calls its function once a phase, before anybody goes on", "[primitives]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  int phases = 0;
  auto const counts = [&]() noexcept { ++phases; };
  heist::barrier b{4, counts};
  std::atomic<bool> wrong{false};
  std::vector<heist::future<void>> all;
  for (int i = 0; i < 4; ++i) {
    all.push_back(ex.submit([&, i] {
      for (int r = 1; r <= 50; ++r) {
        b.arrive_and_wait();
        if (phases < r) wrong = true;
        if (i == 3 && r == 25) return b.arrive_and_drop();
      }
    }));
  }
  for (auto& f : all) f.get();
  CHECK_FALSE(wrong);
  CHECK(phases == 50);
}

TEST_CASE("primitives: a task that an exception leaves is not stopped in the wait of a destructor", "[primitives]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  heist::mutex m;
  m.lock();
  std::stop_source stop;
  bool locked = false;
  struct locks {
    heist::mutex& m;
    bool& locked;
    ~locks() {
      std::scoped_lock lock{m};
      locked = true;
    }
  };
  auto f = ex.submit(heist::with{.stop = stop.get_token()}, [&] {
    locks const at_the_end{m, locked};
    throw std::runtime_error{"left"};
  });
  while (ex.state_text().find("waits for a mutex") == std::string::npos) std::this_thread::yield();
  stop.request_stop();
  std::this_thread::sleep_for(1ms);
  m.unlock();
  CHECK_THROWS_AS(f.get(), std::runtime_error);
  CHECK(locked);
}

TEMPLATE_TEST_CASE("primitives: one that is handed a lock does not wait for itself", "[primitives]", heist::mutex,
                   heist::shared_mutex) {
  heist::executor ex{1};
  heist_test::watchdog guard{ex, 60s};
  TestType m;
  ex.submit([&] {
      m.lock();
      std::atomic<bool> begun{false};
      auto waits = ex.submit([&] {
        begun = true;
        std::scoped_lock lock{m};
      });
      while (!begun) ex.submit([] {}).get();
      CHECK(ex.state_text().find("which is held by") != std::string::npos);
      m.unlock();
      while (m.try_lock()) m.unlock();  // until it is handed over
      std::string const text = ex.state_text();
      INFO(text);
      CHECK(text.find("in a circle") == std::string::npos);
      waits.get();
    }).get();
}

namespace {

/// A task that locks `a`, meets another one, and then wants `b`.
template <class A, class B>
auto locks(A& a, B& b, heist::latch& both) {
  return [&a, &b, &both] {
    std::scoped_lock lock{a};
    both.arrive_and_wait();
    std::scoped_lock other{b};
  };
}

}  // namespace

TEST_CASE("primitives: who waits for whom is told, and a circle by name", "[primitives]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  heist::mutex first{"first"}, second{"second"};
  heist::latch both{2};
  std::stop_source stop;
  auto a = ex.submit(heist::with{.name = "ahead", .stop = stop.get_token()}, locks(first, second, both));
  auto b = ex.submit(heist::with{.name = "back", .stop = stop.get_token()}, locks(second, first, both));
  std::string const text = heist_test::state_text_after(ex, "in a circle");
  INFO(text);
  CHECK(text.find("ahead waits for a mutex second, which is held by async back") != std::string::npos);
  CHECK(text.find("back waits for a mutex first, which is held by async ahead") != std::string::npos);
  stop.request_stop();  // which ends it
  CHECK_THROWS_AS(a.get(), heist::stopped_error);
  try {
    b.get();  // it may have got what the other one gave back
  } catch (heist::stopped_error const&) {
  }
}

TEST_CASE("primitives: a circle of two tasks of one run is told with both", "[primitives]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  heist::mutex first{"first"}, second{"second"};
  heist::latch both{2};
  heist::task_graph g;
  g.emplace(locks(first, second, both)).name("ahead");
  g.emplace(locks(second, first, both)).name("back");
  auto run = ex.run(g);
  std::string const text = heist_test::state_text_after(ex, "2 tasks wait for each other in a circle");
  INFO(text);
  std::string const cycle = text.substr(text.find("in a circle"));
  CHECK(cycle.find("ahead waits for a mutex second") != std::string::npos);
  CHECK(cycle.find("back waits for a mutex first") != std::string::npos);
  run.request_stop();
  run.wait();
}

TEST_CASE("primitives: a circle of locks on two executors is told by both", "[primitives]") {
  heist::executor one{1}, two{1};
  heist_test::watchdog guard{one, 60s};
  guard.watch(two);
  heist::mutex first{"first"};
  heist::shared_mutex second{"second"};
  heist::latch both{2};
  std::stop_source stop;
  auto a = one.submit(heist::with{.name = "ahead", .stop = stop.get_token()}, locks(first, second, both));
  auto b = two.submit(heist::with{.name = "back"}, locks(second, first, both));
  for (heist::executor<> const* asked : {&one, &two}) {
    std::string const text = heist_test::state_text_after(*asked, "2 tasks wait for each other in a circle");
    INFO(text);
    CHECK(text.find("ahead waits for a shared mutex second", text.find("in a circle")) != std::string::npos);
    CHECK(text.find("back waits for a mutex first", text.find("in a circle")) != std::string::npos);
  }
  stop.request_stop();
  CHECK_THROWS_AS(a.get(), heist::stopped_error);
  b.get();
}

TEST_CASE("primitives: a circle of a lock and a future of another executor is told", "[primitives]") {
  heist::executor one{1}, two{1};
  heist_test::watchdog guard{one, 60s};
  guard.watch(two);
  heist::mutex table{"table"};
  std::stop_source stop;
  auto a = one.submit(heist::with{.name = "asks"}, [&] {
    std::scoped_lock lock{table};
    two.submit(heist::with{.name = "locks", .stop = stop.get_token()}, [&] { std::scoped_lock other{table}; }).get();
  });
  for (heist::executor<> const* asked : {&one, &two}) {
    std::string const text = heist_test::state_text_after(*asked, "2 tasks wait for each other in a circle");
    INFO(text);
    CHECK(text.find("async asks waits for the task locks", text.find("in a circle")) != std::string::npos);
    CHECK(text.find("async locks waits for a mutex table", text.find("in a circle")) != std::string::npos);
  }
  stop.request_stop();
  CHECK_THROWS_AS(a.get(), heist::stopped_error);
}

TEST_CASE("primitives: a circle of a lock and a child that is joined is told", "[primitives]") {
  {
    heist::executor ex{2};
    heist_test::watchdog guard{ex, 60s};
    heist::mutex table{"table"};
    std::stop_source stop;
    auto a = ex.submit(heist::with{.name = "forks", .stop = stop.get_token()}, [&](heist::context ctx) {
      std::scoped_lock lock{table};
      std::atomic<bool> begun{false};
      ctx.fork_join(
          [&] {
            while (!begun) std::this_thread::yield();
          },
          [&] {
            begun = true;
            std::scoped_lock other{table};
          });
    });
    std::string const text = heist_test::state_text_after(ex, "2 tasks wait for each other in a circle");
    INFO(text);
    CHECK(text.find("async forks waits for the tasks that it has forked", text.find("in a circle")) !=
          std::string::npos);
    stop.request_stop();
    CHECK_THROWS_AS(a.get(), heist::stopped_error);
  }
}

TEST_CASE("primitives: no circle is told that a time limit ends", "[primitives]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  heist::timed_mutex first{"first"}, second{"second"};
  heist::latch both{2};
  std::stop_source stop;
  auto a = ex.submit(heist::with{.name = "ahead", .stop = stop.get_token()}, [&] {
    std::scoped_lock lock{first};
    both.arrive_and_wait();
    std::scoped_lock other{second};
  });
  auto b = ex.submit(heist::with{.name = "back"}, [&] {
    std::scoped_lock lock{second};
    both.arrive_and_wait();
    if (first.try_lock_for(10min)) first.unlock();
  });
  std::string text;
  do text = ex.state_text();
  while (text.find("ahead waits for a mutex") == std::string::npos ||
         text.find("back waits for a mutex") == std::string::npos);
  INFO(text);
  CHECK(text.find("circle") == std::string::npos);
  stop.request_stop();
  CHECK_THROWS_AS(a.get(), heist::stopped_error);
  b.get();
}

TEST_CASE("primitives: many time limits, in any order, taken back or not", "[primitives]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  heist::counting_semaphore<> s{0};
  std::vector<heist::future<bool>> all;
  int const n = slow ? 100 : 500;
  for (int i = 0; i < n; ++i) {
    auto const time = i % 3 == 0 ? std::chrono::microseconds{(i * 7919) % 5000} : std::chrono::microseconds{60'000'000};
    all.push_back(ex.submit([&s, time] { return s.try_acquire_for(time); }));
  }
  for (int i = 0; i < n; i += 3) all[static_cast<std::size_t>(i)].wait();
  int const late = static_cast<int>(s.available());
  CHECK(late == 0);
  s.release(n);
  int got = 0;
  for (auto& f : all) got += f.get();
  CHECK(got == n - (n + 2) / 3);
}

TEST_CASE("primitives: a condition variable is destroyed when all have been notified, whatever stops them then",
          "[primitives]") {
  heist::executor ex{1};
  heist_test::watchdog guard{ex, 60s};
  for (auto limit = 5ms;; limit *= 2) {
    std::mutex m;
    std::stop_source stop;
    auto changed = std::make_unique<heist::condition_variable_any>();
    auto const wait = [&](auto how) {
      return ex.submit(heist::with{.stop = stop.get_token()}, [&, how] {
        std::unique_lock lock{m};
        how(lock);
      });
    };
    auto stopped = wait([&](auto& lock) { changed->wait(lock); });
    auto late = wait([&](auto& lock) { static_cast<void>(changed->wait_for(lock, limit)); });
    std::atomic<bool> both{false};
    ex.submit([&] {  // on the only worker, after them: those that wait do not go on meanwhile
        both = !late.is_ready();
        changed->notify_all();
        changed.reset();
        stop.request_stop();
        if (both) std::this_thread::sleep_for(2 * limit);
      })
        .get();
    late.wait();
    stopped.wait();
    if (both) break;  // otherwise this machine is slower than the limit
  }
}

TEST_CASE("primitives: a task whose deadline has passed does not begin", "[primitives]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  std::atomic<int> begun{0};
  for (int i = 0; i < (slow ? 100 : 1000); ++i) {
    auto f = ex.submit(heist::with{.deadline = std::chrono::steady_clock::now()}, [&] { ++begun; });
    CHECK_THROWS_AS(f.get(), heist::stopped_error);
  }
  CHECK(begun == 0);
}

namespace {

/// A value whose first move into a channel takes as long as the test wants.
struct slow_value {
  explicit slow_value(std::atomic<int>* s = nullptr) noexcept : state{s} {}
  slow_value(slow_value&& other) noexcept : state{std::exchange(other.state, nullptr)} {
    if (state == nullptr) return;
    *state = 1;
    while (*state == 1) std::this_thread::yield();
    state = nullptr;
  }
  std::atomic<int>* state;
};

heist::coroutine<int> takes(heist::executor<>& ex, heist::channel<slow_value>& c) {
  co_await heist::resume_on(ex);
  auto const value = co_await c.pop_async();
  co_return value.has_value();
}

heist::coroutine<void> locks_later(heist::executor<>& ex, heist::mutex& m) {
  co_await ex.submit([] {});
  auto const lock = co_await m.lock_async();
}

}  // namespace

TEST_CASE("primitives: coroutines that wait for a channel hear of its end one after the other", "[primitives]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  heist::channel<slow_value> c{2};
  std::atomic<int> state{0}, had{0};
  std::vector<std::jthread> all;
  for (int i = 0; i < 3; ++i) all.emplace_back([&] { had += heist::sync_wait(takes(ex, c)); });
  while (ex.state_text().find("channel that is empty") == std::string::npos) std::this_thread::yield();
  all.emplace_back([&] { static_cast<void>(c.try_push(slow_value{&state})); });
  while (state != 1) std::this_thread::yield();
  c.close();  // while a value is on its way
  std::this_thread::sleep_for(2ms);
  state = 2;
  all.clear();
  CHECK(had == 1);
}

TEST_CASE("primitives: a stop and a deadline reach a coroutine that has resumed", "[primitives]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  heist::mutex m;
  m.lock();
  auto const soon = std::chrono::steady_clock::now() + 20ms;
  auto f = ex.submit(heist::with{.deadline = soon}, [&] { heist::sync_wait(locks_later(ex, m)); });
  CHECK_THROWS_AS(f.get(), heist::stopped_error);
  m.unlock();
}
