// Limiters: at most so many at a time, and nothing is kept when a run ends in whatever way.
#include <heist/heist.hpp>
#include <heist/sync.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/rounds.hpp"
#include "support/state_text.hpp"
#include "support/watchdog.hpp"
#include "support/yield.hpp"

using seconds = std::chrono::seconds;

namespace {

/// Counts how many are inside at a time.
class gauge {
 public:
  void pass(int weight = 1) {
    int const now = now_ += weight;
    int most = most_;
    while (now > most && !most_.compare_exchange_weak(most, now)) {
    }
    heist_test::yield();
    now_ -= weight;
  }
  int max() const { return most_; }

 private:
  std::atomic<int> now_{0}, most_{0};
};

/// Two tasks of `g`: the first acquires `mine`, the second `wanted` as well. The first one of two sections waits for
/// the other's (and for `all` others), so that both hold the permits that the other one wants.
void crossing_section(heist::task_graph& g, std::atomic<int>& both, heist::limiter& mine, heist::limiter& wanted,
                      char const* name, int all = 2) {
  auto begin = g.emplace([&both, all](heist::context c) {
    c.blocking([&both, all] {
      for (++both; both < all;) std::this_thread::yield();
    });
  });
  auto end = g.emplace([] {}).name(name);
  begin.acquire(mine).precede(end);
  end.acquire(wanted).release(mine).release(wanted);
}

bool names_in_cycle(std::string const& text, char const* what) {
  return text.find(what, text.find("in a circle")) != std::string::npos;
}

}  // namespace

TEST_CASE("a limiter lets at most so many tasks run at a time", "[graph]") {
  for (std::size_t const workers : {1u, 4u, 16u}) {
    heist::executor ex{workers};
    heist_test::watchdog timeout_guard{ex, seconds{30}};
    for (std::size_t const most : {1u, 2u, 3u, 100u}) {
      heist::limiter limit{most};
      CHECK(limit.max() == most);
      CHECK(limit.available() == most);
      gauge inside;
      std::atomic<int> n{0};
      heist::task_graph g;
      for (int i = 0; i < 64; ++i) {
        g.emplace([&] {
           inside.pass();
           ++n;
         }).limit(limit);
      }
      ex.run_n(g, 3).get();
      CHECK(n == 192);
      CHECK(inside.max() <= static_cast<int>(most));
      CHECK(limit.available() == most);
    }
  }
}

TEST_CASE("a limiter of one is a lock: what it guards needs no other", "[graph]") {
  heist::executor ex{8};
  heist_test::watchdog timeout_guard{ex, seconds{30}};
  heist::limiter one{1};
  int unprotected = 0;
  heist::task_graph g;
  for (int i = 0; i < 200; ++i) g.emplace([&] { ++unprotected; }).limit(one);
  ex.run_n(g, 10).get();
  CHECK(unprotected == 2000);
}

TEST_CASE("tasks may take different amounts, and those that want much are not starved", "[graph]") {
  heist::executor ex{4};
  heist_test::watchdog timeout_guard{ex, seconds{30}};
  heist::limiter four{4};
  gauge inside;
  std::atomic<int> n{0};
  heist::task_graph g;
  for (int i = 0; i < 100; ++i) {
    int const weight = 1 + i % 4;
    g.emplace([&, weight] {
       inside.pass(weight);
       ++n;
     }).limit(four, static_cast<std::size_t>(weight));
  }
  ex.run_n(g, 5).get();
  CHECK(n == 500);
  CHECK(inside.max() <= 4);
  CHECK(four.available() == 4);
}

TEST_CASE("limit() twice with the same limiter asks for the sum", "[graph]") {
  heist::executor ex{4};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::limiter two{2};
  int unprotected = 0;
  heist::task_graph g;
  for (int i = 0; i < 50; ++i) g.emplace([&] { ++unprotected; }).limit(two).limit(two);
  ex.run_n(g, 5).get();
  CHECK(unprotected == 250);
  CHECK(two.available() == 2);
}

TEST_CASE("tasks may hold several limiters, named in any order, without deadlock", "[graph]") {
  heist::executor ex{4};
  heist_test::watchdog timeout_guard{ex, seconds{30}};
  heist::limiter a{1}, b{1}, c{2};
  gauge with_a, with_b, with_c;
  std::atomic<int> n{0};
  heist::task_graph g;
  for (int i = 0; i < 60; ++i) {
    g.emplace([&] { with_a.pass(), with_b.pass(), ++n; }).limit(a).limit(b);
    g.emplace([&] { with_b.pass(), with_a.pass(), ++n; }).limit(b).limit(a);
    g.emplace([&] { with_c.pass(), with_b.pass(), ++n; }).limit(c).limit(b);
    g.emplace([&] { with_a.pass(), with_c.pass(), ++n; }).limit(a).limit(c);
  }
  ex.run_n(g, 5).get();
  CHECK(n == 5 * 240);
  CHECK(with_a.max() == 1);
  CHECK(with_b.max() == 1);
  CHECK(with_c.max() <= 2);
  CHECK((a.available() == 1 && b.available() == 1 && c.available() == 2));
}

TEST_CASE("one task may acquire and another release", "[graph]") {
  heist::executor ex{4};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::limiter two{2};
  std::atomic<int> between{0}, most{0};
  heist::task_graph g;
  for (int i = 0; i < 20; ++i) {
    auto enter = g.emplace([&] {
                    int const now = ++between;
                    int seen = most;
                    while (now > seen && !most.compare_exchange_weak(seen, now)) {
                    }
                  }).acquire(two);
    auto middle = g.emplace([] { heist_test::yield(); });
    auto leave = g.emplace([&] { --between; }).release(two);
    enter.precede(middle);
    middle.precede(leave);
  }
  ex.run_n(g, 5).get();
  CHECK(most <= 2);
  CHECK(two.available() == 2);
}

TEST_CASE("more given back than was taken does not raise the limit", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::limiter two{2};
  heist::task_graph g;
  for (int i = 0; i < 10; ++i) g.emplace([] {}).release(two, 2);
  ex.run(g).get();
  CHECK(two.available() == 2);
}

TEST_CASE("a limiter may be shared by graphs and executors", "[graph]") {
  heist::executor one{2}, two{2};
  heist_test::watchdog timeout_guard{one, seconds{30}};
  timeout_guard.watch(two);
  heist::limiter lock{1};
  int unprotected = 0;
  heist::task_graph a, b, c;
  for (int i = 0; i < 40; ++i) {
    for (auto* g : {&a, &b, &c}) g->emplace([&] { ++unprotected; }).limit(lock);
  }
  for (int round = 0; round < 20; ++round) {
    auto ra = one.run(a);
    auto rb = two.run(b);
    auto rc = one.run(c);
    ra.get(), rb.get(), rc.get();
  }
  CHECK(unprotected == 20 * 120);
  CHECK(lock.available() == 1);
  one.wait_idle();
  two.wait_idle();
}

TEST_CASE("a task that waits for a limiter costs no worker", "[graph]") {
  heist::executor ex{1};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::limiter one{1};
  heist::task_graph g;
  std::atomic<int> n{0};
  std::atomic<bool> others_ran{false};
  g.emplace([&](heist::context c) {  // holds it while it waits for work that only this worker can do
     c.submit([&] { others_ran = true; }).get();
     ++n;
   })
      .limit(one);
  for (int i = 0; i < 20; ++i) g.emplace([&] { ++n; }).limit(one);
  ex.run(g).get();
  CHECK(n == 21);
  CHECK(others_ran);
}

TEST_CASE("a task holds its limits while it waits, wherever it goes on", "[graph]") {
  heist::executor ex{4};
  heist_test::watchdog timeout_guard{ex, seconds{30}};
  heist::limiter one{1};
  int unprotected = 0;
  heist::task_graph g;
  for (int i = 0; i < 50; ++i) {
    g.emplace([&](heist::context c) {
       int const before = unprotected;
       c.submit([] { heist_test::yield(); }).get();
       c.fork_join([] {}, [] { heist_test::yield(); });
       unprotected = before + 1;
     }).limit(one);
  }
  ex.run_n(g, 5).get();
  CHECK(unprotected == 250);
}

TEST_CASE("a module may be limited: its graph runs while it holds", "[graph]") {
  heist::executor ex{4};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  heist::limiter one{1};
  gauge inside;
  heist::task_graph g;
  std::vector<std::unique_ptr<heist::task_graph>> parts;
  for (int i = 0; i < 8; ++i) {
    parts.push_back(std::make_unique<heist::task_graph>());
    auto a = parts.back()->emplace([&] { inside.pass(); });
    a.precede(parts.back()->emplace([&] { inside.pass(); }));
    g.compose(*parts.back()).limit(one);
  }
  ex.run_n(g, 5).get();
  CHECK(inside.max() == 1);
  CHECK(one.available() == 1);
}

TEST_CASE("limits are given back when tasks throw while they hold them", "[graph]") {
  for (std::size_t const workers : {1u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog timeout_guard{ex, seconds{30}};
    heist::limiter two{2}, one{1};
    heist::task_graph g;
    heist::task_graph inner;
    inner.emplace([] { throw std::runtime_error{"inner"}; });
    std::atomic<int> n{0};
    for (int i = 0; i < 50; ++i) {
      g.emplace([&] {
         if (++n % 7 == 0) throw std::runtime_error{"seven"};
       })
          .limit(two)
          .limit(one);
    }
    g.compose(inner).limit(two, 2);
    for (int round = 0; round < 20; ++round) {
      CHECK_THROWS_AS(ex.run(g).get(), std::runtime_error);
      CHECK(two.available() == 2);
      CHECK(one.available() == 1);
    }
  }
}

TEST_CASE("limits are given back when a run is stopped while tasks hold them and wait for them", "[graph]") {
  heist::executor ex{4};
  heist_test::watchdog timeout_guard{ex, seconds{30}};
  heist::limiter two{2};
  heist::task_graph g;
  std::atomic<int> n{0};
  for (int i = 0; i < 200; ++i) {
    auto enter = g.emplace([&](heist::context c) {
                    ++n;
                    c.submit([] {}).get();
                  }).acquire(two);
    enter.precede(g.emplace([] {}).release(two));
  }
  for (int round = 0; round < 20; ++round) {
    n = 0;
    auto run = ex.run(g);
    while (n < 5) std::this_thread::yield();
    run.request_stop();
    run.wait();
    CHECK(two.available() == 2);
  }
  n = 0;
  ex.run(g).get();
  CHECK(n == 200);
}

TEST_CASE("what a run took is given back when it fails or is stopped, also where conditions lead on", "[graph]") {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog timeout_guard{ex, seconds{30}};
    heist::limiter two{2}, three{3};
    std::atomic<bool> fails{true};
    std::atomic<int> n{0};
    heist::task_graph inner;  // takes in one task and gives back in one that a condition chooses
    auto take = inner.emplace([&] { ++n; }).acquire(two).acquire(three, 2);
    auto choose = inner.emplace_condition([&] {
      if (fails) throw std::runtime_error{"on purpose"};
      return 0;
    });
    auto give = inner.emplace([] {}).release(two).release(three, 2);
    take.precede(choose);
    choose.precede(give);
    heist::task_graph outer;
    outer.compose(inner).limit(three);
    for (int i = 0; i < 20; ++i) {
      CHECK_THROWS_AS(ex.run(inner).get(), std::runtime_error);
      CHECK(two.available() == 2);
      CHECK(three.available() == 3);
      CHECK_THROWS_AS(ex.run(outer).get(), std::runtime_error);
      CHECK(two.available() == 2);
      CHECK(three.available() == 3);
    }
    fails = false;
    ex.run_n(inner, 10).get();
    CHECK(two.available() == 2);
    heist_test::rounds rounds{200};
    while (rounds.next()) {
      auto run = ex.run_until(inner, [] { return false; });
      int const before = n;
      while (n == before) std::this_thread::yield();
      run.request_stop();
      run.wait();
      REQUIRE(two.available() == 2);
      REQUIRE(three.available() == 3);
    }
    // Permits that a run still holds at its end stay acquired: another graph may release them.
    heist::task_graph keeps, gives;
    auto c = keeps.emplace_condition([] { return -1; });
    keeps.emplace([] {}).acquire(two).precede(c);
    gives.emplace([] {}).release(two);
    ex.run(keeps).get();
    CHECK(two.available() == 1);
    ex.run(gives).get();
    CHECK(two.available() == 2);
  }
}

TEST_CASE("a run that is interrupted while its tasks wait for a limiter ends, and leaves the line", "[graph]") {
  enum class how { request, token, exception, part, part_fails };
  for (how const way : {how::request, how::token, how::exception, how::part, how::part_fails}) {
    for (bool const with_conditions : {false, true}) {
      heist::executor ex{2};
      heist_test::watchdog timeout_guard{ex, seconds{30}};
      heist::limiter one{1}, other{2};
      heist::task_graph holder, waiting, after;
      std::atomic<bool> held{false}, go{false};
      holder
          .emplace([&](heist::context c) {
            held = true;
            c.blocking([&] { go.wait(false); });
          })
          .limit(one);
      std::atomic<int> ran{0};
      for (int i = 0; i < 50; ++i) waiting.emplace([&] { ++ran; }).limit(one).limit(other);
      if (with_conditions) waiting.emplace_condition([] { return -1; });
      std::atomic<bool> fails{false};
      if (way == how::exception || way == how::part_fails) {
        waiting.emplace([&](heist::context c) {
          c.blocking([&] { fails.wait(false); });
          throw std::runtime_error{"asked to"};
        });
      }
      after.emplace([&] { ran += 1000; }).limit(one);
      heist::task_graph outer;
      bool const inside = way == how::part || way == how::part_fails;
      if (inside) outer.compose(waiting);
      auto first = ex.run(holder);
      while (!held) std::this_thread::yield();
      std::stop_source source;
      auto second = ex.run(inside ? outer : waiting, heist::with{.stop = source.get_token()});
      while (other.available() != 2 && one.available() != 0) std::this_thread::yield();
      auto third = ex.run(after);
      if (way == how::request || way == how::part) second.request_stop();
      if (way == how::token) source.request_stop();
      fails = true;
      fails.notify_all();
      if (way == how::exception || way == how::part_fails) {
        CHECK_THROWS_AS(second.get(), std::runtime_error);
      } else {
        second.wait();  // while the limiter is held
      }
      CHECK(ran == 0);
      CHECK_FALSE(third.is_ready());
      CHECK(other.available() == 2);
      go = true;
      go.notify_all();
      first.get();
      third.get();
      CHECK(ran == 1000);
      CHECK(one.available() == 1);
    }
  }
}

TEST_CASE("sections that hold what the other wants end when their run is stopped, and give back what they hold",
          "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{30}};
  for (int passes : {1, 3}) {
    heist::limiter x{1}, y{1};
    heist::task_graph g;
    std::atomic<int> both{0};
    auto const section = [&](heist::limiter& mine, heist::limiter& wanted) {
      auto begin = g.emplace([&] { ++both; });
      auto wait = g.emplace([&](heist::context c) {
        c.blocking([&] {
          while (both < 2) std::this_thread::yield();
        });
      });
      auto end = g.emplace([] {});
      begin.acquire(mine).precede(wait);
      wait.precede(end);
      end.acquire(wanted).release(mine).release(wanted);
    };
    section(x, y);
    section(y, x);
    auto run = ex.run_n(g, static_cast<std::size_t>(passes));
    while (both < 2 || x.available() != 0 || y.available() != 0) std::this_thread::yield();
    run.request_stop();
    run.wait();
    CHECK(x.available() == 1);
    CHECK(y.available() == 1);
  }
}

TEST_CASE("a task that a loop makes ready again while it waits for a limiter runs as often as it was ready",
          "[graph]") {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog timeout_guard{ex, seconds{30}};
    heist::limiter one{1};
    heist::task_graph holder, looping;
    std::atomic<bool> held{false};
    auto opens = holder.emplace_event<void>();
    auto hold = holder.emplace([&] { held = true; });
    hold.acquire(one);
    hold.precede(opens);
    auto let_go = holder.emplace([] {});
    let_go.release(one);
    opens.precede(let_go);
    auto first = ex.run(holder);
    while (!held) std::this_thread::yield();
    std::atomic<int> ran{0}, looped{0};
    gauge inside;
    auto begin = looping.emplace([] {});
    auto body = looping.emplace([] {});
    auto again = looping.emplace_condition([&] { return ++looped < 20 ? 0 : 1; });
    auto counted = looping.emplace([&] {
      inside.pass();
      ++ran;
    });
    counted.limit(one);
    begin.precede(body);
    body.precede(again, counted);
    again.precede(body);
    for (bool const stops : {false, true}) {
      ran = looped = 0;
      auto second = ex.run(looping);
      while (looped < 20) std::this_thread::yield();
      if (stops) {
        second.request_stop();
        second.wait();
        CHECK(ran <= 20);
        CHECK(one.available() == 1);
        continue;
      }
      opens.set_value();
      second.get();
      first.get();
      CHECK(ran == 20);
      CHECK(inside.max() == 1);
      CHECK(one.available() == 1);
    }
  }
}

TEST_CASE("state_text names the tasks that wait for limiters, and those that wait in a circle", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{30}};
  heist::limiter x{1}, y{1};
  heist::task_graph g;
  g.name("devices");
  std::atomic<int> both{0};
  crossing_section(g, both, x, y, "wants y");
  crossing_section(g, both, y, x, "wants x");
  auto run = ex.run(g);
  std::string const text = heist_test::state_text_after(ex, "2 tasks wait for each other in a circle");
  INFO(text);
  CHECK(text.find("task wants y of the graph devices waits for a limiter of 1, of which 0 are free") !=
        std::string::npos);
  CHECK(names_in_cycle(text, "task wants y of the graph devices waits for a limiter"));
  CHECK(names_in_cycle(text, "task wants x of the graph devices waits for a limiter"));
  run.request_stop();
  run.wait();
  CHECK(ex.state_text().find("limiter") == std::string::npos);
}

TEST_CASE("state_text names a circle through limiters of two graphs on two executors", "[graph]") {
  heist::executor ex{2}, remote{1};
  heist_test::watchdog guard{ex, std::chrono::seconds{60}, "circle of two graphs"};
  guard.watch(remote);
  heist::limiter x{1}, y{1};
  heist::task_graph first{"one"}, second{"two"};
  std::atomic<int> both{0};
  crossing_section(first, both, x, y, "wants y");
  crossing_section(second, both, y, x, "wants x");
  auto run = ex.run(first);
  auto other = remote.run(second);
  for (heist::executor<> const* asked : {&ex, &remote}) {
    std::string const text = heist_test::state_text_after(*asked, "2 tasks wait for each other in a circle");
    INFO(text);
    CHECK(names_in_cycle(text, "task wants y of the graph one waits for a limiter of 1, of which 0 are free (for "));
    CHECK(names_in_cycle(text, "task wants x of the graph two waits for a limiter of 1, of which 0 are free (for "));
  }
  run.request_stop();
  other.request_stop();
  run.wait();
  other.wait();
}

TEST_CASE("state_text names a circle of a task that holds a limiter, and of a lock, on two executors", "[graph]") {
  heist::executor ex{2}, remote{1};
  heist_test::watchdog guard{ex, std::chrono::seconds{60}, "limiter and lock"};
  guard.watch(remote);
  // The owner of the lock waits for a permit itself, or for a task that does.
  bool const in_line = GENERATE(false, true);
  heist::binary_semaphore device{1};
  heist::mutex table{"table"};
  heist::task_graph holder{"holder"}, queued{"queued"};
  std::atomic<bool> locked{false};
  holder
      .emplace([&](heist::context c) {
        c.blocking([&] {
          while (!locked) std::this_thread::yield();
        });
        std::scoped_lock lock{table};
      })
      .name("prints")
      .limit(device);
  queued.emplace([] {}).name("queued").limit(device);
  auto run = ex.run(holder);
  while (device.available() != 0) std::this_thread::yield();
  auto owner = remote.submit(heist::with{.name = "owner"}, [&] {
    std::scoped_lock lock{table};
    locked = true;
    if (in_line) {
      ex.run(queued).get();
    } else {
      device.acquire();
      device.release();
    }
  });
  for (heist::executor<> const* asked : {&ex, &remote}) {
    std::string const text = heist_test::state_text_after(*asked, "in a circle");
    INFO(text);
    CHECK(text.find("and none of them will ever end unless other code releases the semaphore: ") != std::string::npos);
    CHECK(names_in_cycle(text, "task prints waits for a mutex table"));
    if (in_line) {
      CHECK(names_in_cycle(text, "async owner waits for a run of the graph queued"));
      CHECK(names_in_cycle(text, "task queued of the graph queued waits for a limiter"));
    } else {
      CHECK(names_in_cycle(text, "async owner waits for a semaphore"));
    }
  }
  run.request_stop();  // "prints" goes on without the lock, and releases the permit
  CHECK_THROWS_AS(run.get(), heist::stopped_error);
  owner.get();
}

TEST_CASE("state_text names a circle of a limiter where all of its permits are held in it", "[graph]") {
  heist::executor ex{4};
  heist_test::watchdog guard{ex, std::chrono::seconds{60}, "two permits"};
  // The second permit is held by a task that waits for the same lock, or by one that runs.
  bool const waits = GENERATE(true, false);
  heist::counting_semaphore<2> devices{2};
  heist::mutex table{"table"};
  heist::task_graph g{"devices"};
  std::atomic<bool> locked{false}, go{false};
  auto const locks = [&](heist::context c) {
    c.blocking([&] {
      while (!locked) std::this_thread::yield();
    });
    std::scoped_lock lock{table};
  };
  g.emplace(locks).name("left").limit(devices);
  if (waits) {
    g.emplace(locks).name("right").limit(devices);
  } else {
    g.emplace([&](heist::context c) {
       c.blocking([&] {
         while (!go) std::this_thread::yield();
       });
     }).limit(devices);
  }
  auto run = ex.run(g);
  while (devices.available() != 0) std::this_thread::yield();
  auto owner = ex.submit(heist::with{.name = "owner"}, [&] {
    std::scoped_lock lock{table};
    locked = true;
    devices.acquire();
    devices.release();
  });
  if (waits) {
    std::string const text = heist_test::state_text_after(ex, "3 tasks wait for each other in a circle");
    INFO(text);
    CHECK(names_in_cycle(text, "task left waits for a mutex table"));
    CHECK(names_in_cycle(text, "task right waits for a mutex table"));
    CHECK(names_in_cycle(text, "async owner waits for a semaphore"));
    run.request_stop();
    CHECK_THROWS_AS(run.get(), heist::stopped_error);
  } else {
    heist_test::state_text_after(ex, "task left waits for a mutex table");
    std::string const text = heist_test::state_text_after(ex, "async owner waits for a semaphore");
    INFO(text);
    CHECK(text.find("circle") == std::string::npos);
    go = true;
    run.get();
  }
  owner.get();
}

TEST_CASE("state_text names no circle of tasks in a line where a running task holds another permit", "[graph]") {
  heist::executor ex{3};
  heist_test::watchdog guard{ex, std::chrono::seconds{60}, "crossed, with another permit"};
  heist::limiter x{2}, y{1};
  heist::task_graph g;
  std::atomic<int> both{0};
  std::atomic<bool> go{false};
  g.emplace([&](heist::context c) {
     c.blocking([&] {
       ++both;
       while (!go) std::this_thread::yield();
     });
   }).limit(x);
  crossing_section(g, both, x, y, "wants y", 3);
  crossing_section(g, both, y, x, "wants x", 3);
  auto run = ex.run(g);
  std::string text;
  do text = ex.state_text();
  while (text.find("task wants x") == std::string::npos || text.find("task wants y") == std::string::npos);
  INFO(text);
  CHECK(text.find("circle") == std::string::npos);
  go = true;
  run.get();
}

TEST_CASE("state_text names no circle where tasks wait for a limiter that a running task holds", "[graph]") {
  heist::executor ex{3};
  heist_test::watchdog guard{ex, std::chrono::seconds{60}, "no circle"};
  heist::limiter both[2]{heist::limiter{1}, heist::limiter{1}};
  heist::task_graph g;
  std::atomic<bool> runs{false}, go{false};
  g.emplace([&](heist::context c) {
     runs = true;
     c.blocking([&] {
       while (!go) std::this_thread::yield();
     });
   }).limit(both[1]);
  auto gate = g.emplace([&](heist::context c) {
    c.blocking([&] {
      while (!runs) std::this_thread::yield();
    });
  });
  for (char const* name : {"left", "right"}) gate.precede(g.emplace([] {}).name(name).limit(both[0]).limit(both[1]));
  auto run = ex.run(g);
  std::string text;
  do text = ex.state_text();
  while (text.find("task left") == std::string::npos || text.find("task right") == std::string::npos);
  CHECK(text.find("circle") == std::string::npos);
  go = true;
  run.get();
}

TEST_CASE("a limiter of nothing, or of a negative number, is refused", "[graph][bad input]") {
  CHECK_THROWS_WITH(heist::limiter{0}, Catch::Contains("a limiter of 0") && Catch::Contains("fix it"));
  CHECK_THROWS_AS(heist::limiter{static_cast<std::size_t>(-1)}, heist::graph_error);
}

TEST_CASE("to ask for more than a limiter ever has, or for nothing, is refused", "[graph][bad input]") {
  heist::task_graph g;
  heist::limiter three{3};
  auto t = g.emplace([] {}).name("greedy");
  CHECK_THROWS_WITH(t.limit(three, 4),
                    Catch::Contains("greedy wants 4") && Catch::Contains("3 in all") && Catch::Contains("fix it"));
  CHECK_THROWS_AS(t.limit(three, 0), heist::graph_error);
  CHECK_THROWS_AS(t.acquire(three, 4), heist::graph_error);
  CHECK_THROWS_AS(t.release(three, 4), heist::graph_error);
  t.limit(three, 2);
  CHECK_THROWS_WITH(t.limit(three, 2), Catch::Contains("greedy wants 4"));
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{20}};
  ex.run_n(g, 3).get();
  CHECK(three.available() == 3);
}

TEST_CASE("limiter: try_acquire takes what is free, and release lets tasks that wait go on", "[graph]") {
  heist::executor ex{2};
  heist::limiter three{3};
  CHECK(three.try_acquire());
  CHECK_FALSE(three.try_acquire(3));
  CHECK_FALSE(three.try_acquire(~std::size_t{0}));
  CHECK(three.try_acquire(2));
  CHECK(three.available() == 0);
  heist::task_graph g;
  std::atomic<bool> ran{false};
  g.emplace([&] { ran = true; }).limit(three);
  auto run = ex.run(g);
  CHECK_FALSE(run.wait_for(std::chrono::milliseconds{2}));
  CHECK_FALSE(ran);
  three.release(3);
  run.get();
  CHECK(ran);
  three.release(~std::size_t{0});  // more than there are is lost
  CHECK(three.available() == 3);
  CHECK(three.try_acquire(3));
}
