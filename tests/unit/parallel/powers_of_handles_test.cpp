// What futures and runs have in common: request_stop() of futures, then() and share() of runs, options of invoke() and run_here().
#include <heist/heist.hpp>
#include <heist/sync.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;
using heist::with;

namespace {

/// Five, or minus one if the task did not start.
int value_or_stopped(heist::future<int> f) {
  try {
    return f.get();
  } catch (heist::stopped_error const&) {
    return -1;
  }
}

/// Keeps the only worker of an executor busy until it is told.
struct busy_worker {
  explicit busy_worker(heist::executor<>& ex)
      : task{ex.submit([this] {
          began = true;
          while (!done) std::this_thread::yield();
        })} {
    while (!began) std::this_thread::yield();
  }
  ~busy_worker() {
    done = true;
    task.wait();
  }
  std::atomic<bool> began{false}, done{false};
  heist::future<void> task;
};

}  // namespace

TEST_CASE("request_stop of a future skips a task that has not started", "[dynamic]") {
  heist::executor<> ex{1};
  heist_test::watchdog guard{ex, 60s};
  bool called = false;
  std::optional<busy_worker> busy{ex};
  auto f = ex.submit(with{.stoppable = true}, [&] { called = true; });
  auto named = ex.submit(with{.name = "named", .stoppable = true}, [&] { called = true; }).share();
  auto second = named;
  auto later = ex.submit(heist::after(named), with{.stoppable = true}, [&] { called = true; });
  auto before = ex.submit([] { return 1; });
  auto alone = ex.submit(heist::after(std::move(before)), with{.stoppable = true}, [&](int) { called = true; });
  f.request_stop();
  second.request_stop();
  alone.request_stop();
  alone.request_stop();  // twice is once
  busy.reset();
  CHECK_THROWS_AS(f.get(), heist::stopped_error);
  CHECK_THROWS_AS(named.get(), heist::stopped_error);
  CHECK_THROWS_AS(later.get(), heist::stopped_error);
  CHECK_THROWS_AS(alone.get(), heist::stopped_error);
  CHECK_FALSE(called);
}

TEMPLATE_TEST_CASE("request_stop of a future reaches the running task, its children and its waits", "[dynamic]",
                   heist::policy::random,
                   (heist::policy::with_order<heist::policy::random, heist::order::child_first>)) {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor<TestType> ex{workers};
    heist_test::watchdog guard{ex, 60s};
    std::atomic<int> began{0};
    auto spins = ex.submit(with{.stoppable = true}, [&](auto c) {
      ++began;
      while (!c.stop_requested()) std::this_thread::yield();
      auto const [left, right] = c.fork_join([](auto d) { return d.stop_requested(); },
                                             [](auto d) { return d.stop_token().stop_requested(); });
      return left && right;
    });
    while (began == 0) std::this_thread::yield();
    std::thread outside{[&] { spins.request_stop(); }};
    outside.join();
    CHECK(spins.get());

    heist::manual_reset_event never;
    auto waits = ex.submit(with{.name = "waits", .stoppable = true}, [&](auto c) {
      ++began;
      auto inner = c.submit([&] { never.wait(); });
      inner.get();
    });
    while (began == 1) std::this_thread::yield();
    waits.request_stop();
    CHECK_THROWS_AS(waits.get(), heist::stopped_error);
  }
}

TEST_CASE("request_stop of a future: with a token and a deadline, after the end, without options", "[dynamic]") {
  heist::executor<> ex{2};
  heist_test::watchdog guard{ex, 60s};
  std::stop_source source;
  auto const spin = [](heist::context c) {
    while (!c.stop_requested()) std::this_thread::yield();
    return 5;
  };
  auto by_handle = ex.submit(with{.stop = source.get_token()}, spin);
  by_handle.request_stop();
  int const told = value_or_stopped(std::move(by_handle));
  CHECK((told == 5 || told == -1));
  CHECK_FALSE(source.stop_requested());
  auto by_token = ex.submit(with{.stop = source.get_token()}, spin);
  source.request_stop();
  int const told_by_token = value_or_stopped(std::move(by_token));
  CHECK((told_by_token == 5 || told_by_token == -1));
  auto late = ex.submit(with{.deadline = std::chrono::steady_clock::now() + 100s}, [] { return 6; }).share();
  late.wait();
  late.request_stop();
  CHECK(late.get() == 6);
  auto with_a_name = ex.submit(with{.name = "cannot be stopped"}, [] { return 7; });
  CHECK_THROWS_AS(with_a_name.request_stop(), heist::executor_error);
  CHECK(with_a_name.get() == 7);
  auto plain = ex.submit([] { return 7; });
  CHECK_THROWS_AS(plain.request_stop(), heist::executor_error);
  CHECK(plain.get() == 7);
  heist::future<int> none;
  CHECK_THROWS_AS(none.request_stop(), heist::executor_error);
  // A task of a run that may be stopped inherits that stop, but has no options.
  auto inside = ex.submit(with{.stoppable = true}, [](heist::context c) {
    auto inner = c.submit([] { return 1; });
    try {
      inner.request_stop();
    } catch (heist::executor_error const&) {
      return 10 + inner.get();
    }
    return 0;
  });
  CHECK(inside.get() == 11);
}

TEST_CASE("request_stop of a future while its task ends, many times", "[dynamic]") {
  heist::executor<> ex{3};
  heist_test::watchdog guard{ex, 60s};
  int stopped = 0;
  for (int round = 0; round != 2000; ++round) {
    auto f = ex.submit(with{.stoppable = true}, [] { return std::make_unique<int>(1); }).share();
    auto other = f;
    std::thread outside;
    if (round % 100 == 0) outside = std::thread{[g = f] { g.request_stop(); }};
    other.request_stop();
    other = {};
    try {
      if (*f.get() != 1) FAIL("another value");
    } catch (heist::stopped_error const&) {
      ++stopped;
    }
    f = {};
    if (outside.joinable()) outside.join();
  }
  CHECK(stopped <= 2000);
}

TEST_CASE("request_stop of a pipeline's future, and a deadline of its run", "[dynamic]") {
  heist::executor<> ex{2};
  heist_test::watchdog guard{ex, 60s};
  std::atomic<int> tokens{0};
  heist::pipeline p{2, heist::serial_stage([&](heist::token&) { return ++tokens; }), heist::parallel_stage([](int) {})};
  auto run = ex.run(p);
  while (tokens < 10) std::this_thread::yield();
  run.request_stop();
  CHECK_THROWS_AS(run.get(), heist::stopped_error);
  CHECK_THROWS_AS(ex.run(p, with{.deadline = std::chrono::steady_clock::now() + 5ms}).get(), heist::stopped_error);
  CHECK_THROWS_AS(ex.run(p, with{.priority = heist::priority::high}), heist::executor_error);
  CHECK_THROWS_AS(ex.run_n(p, 2), heist::executor_error);
  heist::scalable_pipeline dynamic{2};
  dynamic.add(heist::stage_mode::serial, [&](heist::token&) { ++tokens; });
  auto second = ex.run(dynamic, with{});
  second.request_stop();
  CHECK_THROWS_AS(second.get(), heist::stopped_error);
}

TEST_CASE("then and share of a run", "[dynamic]") {
  heist::executor<> ex{2};
  heist_test::watchdog guard{ex, 60s};
  heist::task_graph g;
  std::atomic<int> n{0};
  g.emplace([&] { ++n; });
  auto run = ex.run(g);
  auto other = run.share();
  auto const after = run.then([&] { return n.load(); }).share();
  auto in_context = other.then([](heist::context c) { return c.submit([] { return 2; }).get(); });
  CHECK(after.get() == 1);
  CHECK(in_context.get() == 2);
  run.wait();
  run = {};
  CHECK(other.is_ready());
  other.get();

  heist::task_graph fails;
  fails.emplace([] { throw std::runtime_error{"a task"}; });
  auto failed = ex.run(fails);
  auto one = failed.share(), two = one.share();
  CHECK_THROWS_AS(failed.then([] {}).get(), std::runtime_error);
  CHECK_THROWS_AS(one.get(), std::runtime_error);
  CHECK_THROWS_AS(two.get(), std::runtime_error);

  heist::task_graph endless;
  auto first = endless.emplace([] {});
  auto loop = endless.emplace_condition([] { return 0; });
  first.precede(loop);
  loop.precede(loop);
  auto stopped = ex.run(endless);
  auto never = stopped.then([] { return 1; });
  stopped.share().request_stop();
  CHECK_THROWS_AS(never.get(), heist::stopped_error);
  CHECK(stopped.stopped());
  STATIC_REQUIRE(!std::is_copy_constructible_v<heist::graph_run>);
  CHECK_THROWS_AS(heist::graph_run{}.share(), heist::executor_error);
  CHECK_THROWS_AS(heist::graph_run{}.then([] {}), heist::executor_error);
}

TEST_CASE("then of a run whose executor is gone is refused", "[dynamic]") {
  heist::task_graph g;
  g.emplace([] {});
  heist::graph_run run;
  {
    heist::executor<> ex{1};
    run = ex.run(g);
    run.wait();
  }
  CHECK_THROWS_AS(run.then([] {}), heist::executor_error);
  auto other = run.share();
  other.get();
}

TEST_CASE("a stop does not reach the task of an earlier parent at the same address", "[dynamic]") {
  heist::executor<> ex{1};
  heist_test::watchdog guard{ex, 60s};
  for (int round = 0; round != 20; ++round) {
    heist::manual_reset_event began, ends;
    heist::shared_future<void> child;
    void const* parent = nullptr;
    ex.submit([&](heist::context c) {
        c.submit(with{.stoppable = true}, [&](heist::context d) {
           parent = heist::detail::interrupt_of_caller();
           child = d.submit([&] {
                      began.set();
                      ends.wait();
                    }).share();
         }).get();
        began.wait();
        std::vector<heist::shared_future<void>> others;
        for (int i = 0; i != 40; ++i) {
          heist::manual_reset_event up;
          bool found = false;
          auto other = c.submit(with{.stoppable = true}, [&, p = parent](heist::context) {
                          found = heist::detail::interrupt_of_caller() == p;
                          up.set();
                          if (found) child.get();
                        }).share();
          others.push_back(other);
          up.wait();
          if (!found) continue;
          other.request_stop();
          ends.set();
          other.wait();
          break;
        }
        ends.set();
      }).get();
    CHECK_NOTHROW(child.get());
  }
}

namespace other_library {

template <class T, class... Any>
int submit_with(Any&&...) {
  return 0;
}
struct job {
  int operator()() const { return 7; }
};
struct own_options : heist::with {};

}  // namespace other_library

TEST_CASE("options of a user's types, and callables of other libraries", "[dynamic]") {
  heist::executor<> ex{2};
  heist_test::watchdog guard{ex, 60s};
  CHECK(ex.submit(with{}, other_library::job{}).get() == 7);
  auto before = ex.submit([] {}).share();
  CHECK(ex.submit(heist::after(before), with{}, other_library::job{}).get() == 7);
  other_library::own_options own;
  own.stoppable = true;
  auto f = ex.submit(own, other_library::job{});
  f.request_stop();
  CHECK((value_or_stopped(std::move(f)) != 0));
  CHECK(ex.run_here(own, other_library::job{}) == 7);
}

TEST_CASE("a skipped task after a run reports no failure that was fetched", "[dynamic]") {
  heist::executor<> ex{2};
  heist_test::watchdog guard{ex, 60s};
  heist::task_graph bad;
  bad.emplace([] { throw std::runtime_error{"a task"}; });
  auto run = ex.run(bad);
  CHECK_THROWS_AS(run.get(), std::runtime_error);
  std::stop_source stopped;
  stopped.request_stop();
  auto after = ex.submit(heist::after(run), with{.stop = stopped.get_token()}, [] {});
  CHECK_THROWS_AS(after.get(), heist::stopped_error);
  CHECK_NOTHROW(ex.wait_idle());
}

TEST_CASE("invoke and run_here take options", "[dynamic]") {
  heist::executor<> ex{2};
  heist_test::watchdog guard{ex, 60s};
  auto seven = ex.submit([] { return 7; }).share();
  CHECK(ex.invoke(heist::after(seven), with{.name = "x"}, [](int x) { return x + 1; }) == 8);
  CHECK(heist::executor_ref{ex}.invoke(with{.priority = heist::priority::high}, heist::after(seven),
                                       [](heist::context, int x) { return x; }) == 7);
  with const options{.name = "y"};
  CHECK(ex.run_here(options, [] { return 1; }) == 1);
  CHECK(ex.run_here(options, [](heist::context c) { return c.stop_requested() ? 0 : 2; }) == 2);
  CHECK_THROWS_AS(ex.run_here(with{.fifo = true}, [] {}), heist::executor_error);
  CHECK_THROWS_AS(ex.run_here(with{.worker = 0}, [](heist::context) {}), heist::executor_error);
  CHECK_THROWS_AS(ex.run_here(with{.priority = heist::priority::low}, [] {}), heist::executor_error);
  CHECK_THROWS_AS(ex.run_here(with{.deadline = std::chrono::steady_clock::now() + 2ms},
                              [](heist::context c) {
                                heist::manual_reset_event never;
                                never.wait();
                                return c.stop_requested();
                              }),
                  heist::stopped_error);
  CHECK(ex.invoke([&](heist::context c) { return c.submit(options, [] { return 3; }).get(); }) == 3);
}
