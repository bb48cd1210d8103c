// Ends of runs where user code is in the way: callbacks that end their graph, and runs that wait for themselves. Also
// exceptions and callables whose destructors wait.
#include <heist/heist.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "faults/child_process.hpp"
#include "support/catch.hpp"
#include "support/rounds.hpp"
#include "support/watchdog.hpp"
#include "support/yield.hpp"

using seconds = std::chrono::seconds;

namespace {

/// The message of the exception that `f` throws.
template <class Exception, class F>
std::string message_of(F f) {
  try {
    f();
  } catch (Exception const& e) {
    return e.what();
  }
  return "no exception";
}

/// Its destructor waits for other tasks, so that the fiber that destroys it may resume on another worker.
struct waits_when_destroyed {
  heist::executor<>* on;
  explicit waits_when_destroyed(heist::executor<>& ex) : on{&ex} {}
  waits_when_destroyed(waits_when_destroyed const&) = default;
  ~waits_when_destroyed() {
    for (int i = 0; i < 3; ++i) on->submit([] { heist_test::yield(); }).wait();
  }
};

}  // namespace

TEST_CASE("a callback of a run may destroy its graph, or assign to it", "[graph]") {
  for (int what = 0; what < 4; ++what) {
    heist::executor ex{2};
    heist_test::watchdog timeout_guard{ex, seconds{30}};
    auto held = std::make_shared<int>(0);
    std::weak_ptr<int> const watched = held;
    std::atomic<int> ran{0};
    auto g = std::make_unique<heist::task_graph>();
    g->emplace([held, &ran] { ++ran; });
    held.reset();
    std::atomic<bool> hold{what >= 2};
    g->emplace([&] {
      while (hold) std::this_thread::yield();
    });
    auto const first = ex.run(*g, [&] {
      if (what % 2 == 0) {
        g.reset();
      } else {
        *g = heist::task_graph{};
      }
      CHECK_FALSE(watched.expired());  // the run is not over
    });
    heist::graph_run second, third;
    if (what >= 2) {  // runs in line go on without it
      second = ex.run(*g);
      third = ex.run_n(*g, 2, [&] { CHECK(ran == 4); });
      hold = false;
    }
    first.get();
    if (what >= 2) third.get();
    ex.wait_idle();
    CHECK(ran == (what >= 2 ? 4 : 1));
    CHECK(watched.expired());
  }
}

TEST_CASE("a callback whose object owns the graph alone", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{30}};
  for (int i = 0; i < 200; ++i) {
    auto g = std::make_shared<heist::task_graph>();
    auto& graph = *g;
    graph.emplace([] {});
    auto run = ex.run(graph, [g = std::move(g)] {});
    run.get();
  }
}

TEST_CASE("a run that waits for itself is refused", "[graph][bad input]") {
  for (std::size_t const workers : {1u, 2u}) {
    heist::executor ex{workers};
    heist_test::watchdog timeout_guard{ex, seconds{30}};
    auto const says = [](std::string const& text) {
      CHECK(text.find("waited for by one of its own tasks") != std::string::npos);
      CHECK(text.find("fix it") != std::string::npos);
    };
    heist::limiter one{1};
    heist::task_graph g;
    SECTION("a task that runs its own graph") {
      g.emplace([&] { ex.run(g).get(); });
      says(message_of<heist::graph_error>([&] { ex.run(g).get(); }));
    }
    SECTION("a task with a limit that had to wait") {
      for (int i = 0; i < 4; ++i) {
        g.emplace([&] {
           std::this_thread::sleep_for(std::chrono::milliseconds{2});
           ex.run(g).get();
         }).limit(one);
      }
      says(message_of<heist::graph_error>([&] { ex.run(g).get(); }));
    }
    SECTION("a callback that runs its own graph") {
      g.emplace([] {});
      says(message_of<heist::graph_error>([&] { ex.run(g, [&] { ex.run(g).get(); }).get(); }));
    }
    SECTION("a predicate") {
      g.emplace([] {});
      says(message_of<heist::graph_error>([&] {
        ex.run_until(g, [&] {
            ex.run(g).get();
            return true;
          }).get();
      }));
    }
    SECTION("a callback that asks its own handle") {
      g.emplace([] {});
      std::atomic<bool> there{false};
      heist::graph_run h;
      std::string text;
      h = ex.run(g, [&] {
        while (!there) std::this_thread::yield();
        text = message_of<heist::graph_error>([&] { h.wait(); });
      });
      there = true;
      h.get();
      says(text);
    }
    SECTION("a task of an inner graph that waits for the outer one") {
      heist::task_graph inner;
      inner.emplace([&] { ex.run(g).get(); });
      g.compose(inner);
      says(message_of<heist::graph_error>([&] { ex.run(g).get(); }));
    }
    ex.wait_idle();
  }
}

TEST_CASE("a task waits for runs before its own, of its graph and of others", "[graph]") {
  heist::executor ex{2};
  heist_test::watchdog timeout_guard{ex, seconds{60}};
  heist::task_graph other;
  other.emplace([] {});
  heist::task_graph g;
  std::optional<heist::graph_run> before;
  std::atomic<bool> rejected{false};
  g.emplace([&] {
    try {
      if (before) before->get();
      ex.run(other).get();
    } catch (heist::graph_error const&) {
      rejected = true;
    }
  });
  for (int i = 0; i < 2000; ++i) {
    before.reset();
    heist::graph_run first = ex.run(other);  // not looked at
    auto run = ex.run(g);
    run.get();
    before.emplace(std::move(run));
    ex.run(g).get();  // its task waits for the one before, which may not have told its waiters
  }
  CHECK_FALSE(rejected);
}

TEST_CASE("a task that waits for its own future is refused", "[sched][bad input]") {
  for (std::size_t const workers : {1u, 2u}) {
    heist::executor ex{workers};
    heist_test::watchdog timeout_guard{ex, seconds{30}};
    std::atomic<bool> there{false};
    heist::future<void> own;
    std::string text;
    own = ex.submit([&] {
      while (!there) std::this_thread::yield();
      text = message_of<heist::executor_error>([&] { own.wait(); });
    });
    there = true;
    ex.wait_idle();
    own.get();
    CHECK(text.find("its own future") != std::string::npos);
    CHECK(text.find("fix it") != std::string::npos);
  }
}

TEST_CASE("destructors that wait: exceptions, callbacks, predicates, values", "[graph]") {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog timeout_guard{ex, seconds{60}};
    auto const own = [&] { return std::make_shared<waits_when_destroyed>(ex); };
    heist::task_graph beside;  // other tallies in the way
    for (int i = 0; i < 16; ++i) beside.emplace([] {});
    heist::task_graph inner, g;
    bool again = false;
    inner.emplace([&ex] { throw waits_when_destroyed{ex}; });
    g.emplace([&ex] { throw waits_when_destroyed{ex}; });
    g.compose(inner);
    g.emplace([&] { return own(); });
    heist_test::rounds rounds{100};
    while (rounds.next()) {
      static_cast<void>(ex.run(g));  // no caller takes the exception
      auto noise = ex.run_n(beside, 3);
      static_cast<void>(ex.run(g, [o = own()] {}));
      static_cast<void>(ex.run_until(g, [o = own(), &again] { return again = !again; }));
      noise.wait();
    }
    for (int i = 0; i < 50; ++i) {  // the last owner of the exception is the run itself
      auto alone = std::make_shared<heist::task_graph>();
      auto& graph = *alone;
      graph.emplace([&ex] { throw waits_when_destroyed{ex}; });
      graph.emplace([o = own()] {});
      static_cast<void>(ex.run(graph, [alone = std::move(alone)]() mutable { alone.reset(); }));
    }
    CHECK_THROWS_AS(ex.wait_idle(), waits_when_destroyed);  // the first exception that no caller took
  }
}

TEST_CASE("exceptions of inner runs arrive, whoever joins them", "[graph]") {
  heist::executor ex{4};
  heist_test::watchdog timeout_guard{ex, seconds{120}};
  for (int i = 0; i < 200; ++i) {
    heist::task_graph inner;
    for (int k = 0; k < 4; ++k) {
      inner.emplace([k] {
        if (k % 2 == 1) throw std::runtime_error{"inner"};
      });
    }
    auto c = inner.emplace_condition([] { return 0; });
    c.precede(inner.emplace([] { throw std::runtime_error{"chosen"}; }));
    std::atomic<int> caught{0};
    heist::task_graph outer;
    auto shared = std::make_shared<heist::graph_run>();
    auto start = outer.emplace([&](heist::context ctx) { *shared = ctx.run(inner); });
    for (int k = 0; k < 4; ++k) {
      outer
          .emplace([&](heist::context ctx) {
            try {
              shared->get();
            } catch (std::runtime_error const&) {
              ++caught;
            }
            try {
              ctx.run(inner).get();
            } catch (std::runtime_error const&) {
              ++caught;
            }
          })
          .succeed(start);
    }
    outer.emplace([&](heist::context ctx) {
      try {
        ctx.run(inner).get();
      } catch (std::runtime_error const&) {
        ++caught;
      }
    });
    ex.run(outer).get();
    REQUIRE(caught == 9);
  }
}

TEST_CASE("a task that destroys its own graph, or one around it, ends the program with a sentence",
          "[graph][bad input]") {
  for (int what = 0; what < 3; ++what) {
    auto const report = heist_test::run_child([what] {
      heist::executor ex{2};
      auto g = std::make_unique<heist::task_graph>();
      heist::task_graph inner;
      if (what == 0) g->emplace([&] { g.reset(); });
      if (what == 1) g->emplace_condition([&] { return *g = heist::task_graph{}, 0; });
      if (what == 2) {
        inner.emplace([&] { g.reset(); });
        g->compose(inner);
      }
      ex.run(*g).wait();
    });
    INFO(report.text());
    CHECK(report.signal == SIGABRT);
    CHECK(report.says("a task destroys the graph that it is a task of"));
    CHECK(report.says("fix it by"));
  }
}
