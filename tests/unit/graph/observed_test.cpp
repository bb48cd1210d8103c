// Observers are notified of every task once, with the task's own name, and of all tasks before a waiter resumes.
#include <heist/heist.hpp>
#include <heist/observe.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "support/rounds.hpp"
#include "support/watchdog.hpp"
#include "support/yield.hpp"

using seconds = std::chrono::seconds;

namespace {

/// Counts begins and ends, by name and in all; reads each name at both.
struct teller : heist::null_observer {
  static constexpr bool observes = true;
  struct counts {
    int begun = 0, ended = 0;
  };
  std::mutex lock;
  std::map<std::string, counts> by_name;
  std::atomic<int> begun{0}, ended{0}, open_starts{0};

  void task_begin(std::size_t, heist::task_view const& t) noexcept {
    ++begun;
    if (t.kind == heist::task_kind::start) ++open_starts;
    std::scoped_lock const guard{lock};
    ++by_name[text(t)].begun;
  }
  void task_end(std::size_t, heist::task_view const& t) noexcept {
    heist_test::yield();  // let the others get ahead
    {
      std::scoped_lock const guard{lock};
      ++by_name[text(t)].ended;
    }
    if (t.kind == heist::task_kind::start) --open_starts;
    ++ended;
  }
  static std::string text(heist::task_view const& t) {
    return std::string{heist::to_string(t.kind)} + ' ' + (t.name == nullptr ? "" : t.name);
  }
  counts of(std::string const& name) {
    std::scoped_lock const guard{lock};
    return by_name[name];
  }
};
using observed = heist::executor<heist::policy::random, teller>;

constexpr char long_name[] = "a name that is long enough not to fit into a short string";

/// Runs what `make` builds many times, and looks after each whether all was told.
template <class Make>
void all_told(Make make) {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    observed ex{workers};
    heist_test::watchdog timeout_guard{ex, seconds{60}};
    int untold = 0;
    heist_test::rounds rounds{300};
    while (rounds.next()) {
      auto g = std::make_unique<heist::task_graph>();
      make(*g);
      ex.run_n(*g, 2).get();
      int const ended = ex.observer().ended;
      if (ex.observer().begun != ended) ++untold;
      g.reset();  // with all the names
    }
    CHECK(untold == 0);
  }
}

}  // namespace

TEST_CASE("observers are told of each end before the run has ended, with a name that is there", "[graph][observe]") {
  heist::limiter two{2};
  heist::task_graph inner;
  auto fast = inner.emplace([] {}).name(long_name);
  inner.emplace([] {}).name(long_name).succeed(fast);

  SECTION("a plain graph") {
    all_told([](heist::task_graph& g) { g.emplace([] {}).name(long_name).precede(g.emplace([] {}).name(long_name)); });
  }
  SECTION("an empty graph") {
    all_told([](heist::task_graph&) {});
  }
  SECTION("a condition that chooses nobody, and one that chooses") {
    all_told([](heist::task_graph& g) {
      g.emplace_condition([] { return -1; }).name(long_name);
      auto c = g.emplace_condition([] { return 0; }).name(long_name);
      c.precede(g.emplace([] {}).name(long_name));
    });
  }
  SECTION("a condition that chooses several") {
    all_told([](heist::task_graph& g) {
      auto c = g.emplace_multi_condition([] { return std::vector<int>{0, 1}; }).name(long_name);
      c.precede(g.emplace([] {}).name(long_name), g.emplace([] {}).name(long_name));
    });
  }
  SECTION("a task that is a graph") {
    all_told([&](heist::task_graph& g) { g.compose(inner).name(long_name); });
  }
  SECTION("a task that is a graph, and conditions, limited") {
    all_told([&](heist::task_graph& g) {
      auto c = g.emplace_condition([] { return 0; }).limit(two).name(long_name);
      c.precede(g.compose(inner).limit(two).name(long_name));
    });
  }
  SECTION("limited tasks") {
    all_told([&](heist::task_graph& g) {
      for (int i = 0; i < 8; ++i) g.emplace([] {}).limit(two).name(long_name);
    });
  }
  SECTION("tasks that throw") {
    observed ex{2};
    heist_test::watchdog timeout_guard{ex, seconds{60}};
    heist_test::rounds rounds{300};
    while (rounds.next()) {
      heist::task_graph g;
      g.emplace([] { throw std::runtime_error{"on purpose"}; }).name(long_name).limit(two);
      g.emplace_condition([]() -> int { throw std::runtime_error{"on purpose"}; }).name(long_name);
      REQUIRE_THROWS_AS(ex.run(g).get(), std::runtime_error);
      int const ended = ex.observer().ended;
      REQUIRE(ex.observer().begun == ended);
    }
  }
  SECTION("a callback") {
    observed ex{2};
    heist_test::watchdog timeout_guard{ex, seconds{60}};
    heist::task_graph g;
    g.emplace([] {});
    heist_test::rounds rounds{300};
    while (rounds.next()) {
      ex.run(g, [] {}).get();
      REQUIRE(ex.observer().open_starts == 0);
    }
  }
}

TEST_CASE("observers are told of the end of an async before its future is ready", "[graph][observe][sched]") {
  for (std::size_t const workers : {1u, 2u}) {
    observed ex{workers};
    heist_test::watchdog timeout_guard{ex, seconds{60}};
    for (int i = 0; i < 500; ++i) {
      ex.submit([] {}).get();
      int const ended = ex.observer().ended;
      REQUIRE(ex.observer().begun == ended);
    }
    CHECK(ex.observer().of("async ").begun == 500);
    ex.post([] {});
    ex.wait_idle();
    CHECK(ex.observer().of("async ").begun == 501);
    CHECK(ex.observer().of("async ").ended == 501);
  }
}

TEST_CASE("a task that a limiter lets go on is told once, by its own name", "[graph][observe]") {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    observed ex{workers};
    heist_test::watchdog timeout_guard{ex, seconds{60}};
    heist::limiter one{1}, two{2};
    heist::task_graph g;
    constexpr int tasks = 200;
    for (int i = 0; i < tasks; ++i) {
      auto t = g.emplace([] { heist_test::yield(); }).name("limited " + std::to_string(i)).limit(two);
      if (i % 2 == 0) t.limit(one);
    }
    heist::task_graph inner;
    inner.emplace([] {}).name("inside").limit(one);
    g.compose(inner).name("whole").limit(two);
    ex.run_n(g, 2).get();
    for (int i = 0; i < tasks; ++i) {
      auto const told = ex.observer().of("task limited " + std::to_string(i));
      REQUIRE(told.begun == 2);
      REQUIRE(told.ended == 2);
    }
    CHECK(ex.observer().of("task inside").ended == 2);
    CHECK(ex.observer().of("module whole").begun == 2);
    CHECK(ex.observer().of("module whole").ended == 2);
  }
}

TEST_CASE("a limited task is not told before it holds what it takes", "[graph][observe]") {
  observed ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{60}};
  heist::limiter one{1};
  heist::task_graph g;
  std::atomic<int> begun_inside{0};
  for (int i = 0; i < 2; ++i) {
    g.emplace([&] {
       std::this_thread::sleep_for(std::chrono::milliseconds{20});  // the other one comes, and waits
       begun_inside += ex.observer().of("task limited").begun - ex.observer().of("task limited").ended;
     })
        .name("limited")
        .limit(one);
  }
  ex.run(g).get();
  CHECK(begun_inside == 2);
}

TEST_CASE("a recorder and a limiter: each task is recorded as one", "[graph][observe]") {
  heist::executor<heist::policy::random, heist::recorder> ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{60}};
  heist::limiter one{1};
  heist::task_graph g;
  int counter = 0;
  for (int i = 0; i < 1000; ++i) g.emplace([&] { ++counter; }).limit(one);
  ex.run(g).get();
  CHECK(counter == 1000);
  int begun = 0, ended = 0;
  for (std::size_t w = 0; w < 2; ++w) {
    for (std::size_t i = 0; i < ex.observer().event_count(w); ++i) {
      heist::recorded_event const& e = ex.observer().event_at(w, i);
      if (e.kind != heist::task_kind::task) continue;
      begun += e.what == heist::event_kind::task_begin;
      ended += e.what == heist::event_kind::task_end;
    }
  }
  CHECK(begun == 1000);
  CHECK(ended == 1000);
}
