// Tests interfaces for programs that come from another library. They are executor_ref, runs in heist::after,
// heist::after_always, ready futures, and run_here with a stop token.
#include <heist/heist.hpp>
#include <heist/locality.hpp>
#include <heist/sync.hpp>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;

namespace {

/// Takes any executor without being a template.
std::string all_members(heist::executor_ref any) {
  std::atomic<int> n{0};
  any.post([&] { ++n; });
  any.post([&](heist::context c) { n += static_cast<int>(c.worker_id()) >= 0; });
  any.wait_idle();
  CHECK(n == 2);
  CHECK(any.run_here([] { return 7; }) == 7);
  CHECK(any.run_here([](heist::context c) {
    auto [a, b] = c.fork_join([] { return 1; }, [] { return 2; });
    return a + b;
  }) == 3);
  CHECK(any.invoke([] { return std::make_unique<int>(1); }) != nullptr);
  CHECK(any.sleeping_workers() <= any.worker_count());
  CHECK(any.squad_count() >= 1);
  CHECK(!any.machine().pus.empty());
  CHECK(any.submit(heist::with{.name = "named"}, [] { return 4; }).get() == 4);
  CHECK(any.submit(heist::after(any.submit([] { return 4; })), heist::with{.priority = heist::priority::high},
                   [](int x) { return x + 1; })
            .get() == 5);
  heist::region r;
  CHECK(any.invoke(r, [](heist::context) { return 6; }) == 6);
  std::stop_source stop;
  CHECK_FALSE(any.invoke(heist::with{.stop = stop.get_token()}, [](heist::context c) { return c.stop_requested(); }));

  heist::task_graph g;
  int runs = 0;
  g.emplace([&] { ++runs; });
  any.run(g).get();
  any.run_n(g, 2).get();
  any.run_until(g, [&] { return runs == 5; }).get();
  CHECK(runs == 5);
  heist::pipeline p{2, heist::serial_stage([&](heist::token& t) { t.number() == 3 ? t.stop() : void(++runs); })};
  any.run(p).get();
  CHECK(runs == 8);
  heist::flow f{any};
  heist::datum<int> x{f, 1};
  f.task([](int& v) { v = 2; }, heist::update(x));
  CHECK(x.value() == 2);

  std::vector<double> v{3, 1, 2};
  heist::for_each(any, v, [](double& d) { d += 1; });
  heist::sort(any, v);
  CHECK(v.front() == 2);
  CHECK(heist::reduce(any, v, 0.0) == 9);
  any.post([] { throw std::runtime_error{"posted"}; });
  CHECK_THROWS_WITH(any.wait_idle(), "posted");
  return any.state_text();
}

}  // namespace

TEST_CASE("executor_ref: every member, for each kind of policy and number of workers", "[dynamic]") {
  STATIC_REQUIRE(sizeof(heist::executor_ref) == sizeof(void*));
  STATIC_REQUIRE(std::is_trivially_copyable_v<heist::executor_ref>);
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{ex, 60s};
    CHECK(all_members(ex).find(std::to_string(workers) + " workers") != std::string::npos);
    heist::executor<heist::policy::replay> other{workers};
    CHECK(!all_members(other).empty());
  }
}

TEST_CASE("run_here: a stop token is seen, and one that was stopped before calls nothing", "[dynamic]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  std::stop_source stop;
  CHECK(ex.run_here(heist::with{.stop = stop.get_token()}, [] { return 3; }) == 3);
  CHECK(ex.run_here(heist::with{.stop = stop.get_token()}, [&](heist::context c) {
    bool const before = c.stop_requested();
    stop.request_stop();
    return !before && c.stop_requested();
  }));
  bool called = false;
  CHECK_THROWS_AS(ex.run_here(heist::with{.stop = stop.get_token()}, [&] { called = true; }), heist::stopped_error);
  CHECK_THROWS_AS(ex.run_here(heist::with{.stop = stop.get_token()}, [&](heist::context) { called = true; }),
                  heist::stopped_error);
  ex.submit([&] {
      CHECK_THROWS_AS(ex.run_here(heist::with{.stop = stop.get_token()}, [&] { called = true; }), heist::stopped_error);
    }).get();
  CHECK_FALSE(called);
}

TEST_CASE("run_here: what throws where it is called leaves nothing behind", "[dynamic]") {
  heist::executor ex{1};
  auto const kept = std::make_shared<int>(0);
  CHECK_THROWS_AS(ex.run_here([kept](heist::context) { throw 1; }), int);
  CHECK_THROWS_AS(ex.run_here([kept] { throw 1; }), int);
  ex.wait_idle();
  CHECK(kept.use_count() == 1);
}

TEST_CASE("after: a run of a graph, waited for, dropped, ended, failed and stopped", "[dynamic]") {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor ex{workers}, other{1};
    heist_test::watchdog guard{ex, 60s};
    heist::task_graph g;
    heist::event<void> gate = g.emplace_event<void>();
    std::atomic<int> ran{0};
    bool throws = false;
    gate.precede(g.emplace([&] {
      ++ran;
      if (throws) throw std::runtime_error{"planned"};
    }));
    {  // before the end; from another executor, too
      auto run = ex.run(g);
      auto after = ex.submit(heist::after(run, ex.submit([] { return 2; })), [&](int x) { return ran + x; });
      auto remote = other.submit(heist::after(run), [&] { return ran.load(); });
      CHECK_FALSE(after.wait_for(1ms));
      gate.set_value();
      CHECK(after.get() == 3);
      CHECK(remote.get() == 1);
      run.get();
      CHECK(ex.submit(heist::after(run), [] { return 5; }).get() == 5);  // it has ended
    }
    {  // the handle is dropped, and the graph runs again meanwhile
      std::vector<heist::future<int>> all;
      for (int i = 0; i != 50; ++i) {
        all.push_back(ex.submit(heist::after(ex.run(g)), [i] { return i; }));
        gate.set_value();  // the run in progress waits for it
        all.back().wait();
      }
      for (int i = 0; i != 50; ++i) CHECK(all[static_cast<std::size_t>(i)].get() == i);
      CHECK(ran == 51);
    }
    throws = true;
    for (bool const drops : {false, true}) {
      auto run = ex.run(g);
      auto after = ex.submit(heist::after(run), [] { FAIL("comes after a run that failed"); });
      if (drops) run = {};
      gate.set_value();
      CHECK_THROWS_WITH(after.get(), "planned");
      ex.wait_idle();  // it has been asked for
      if (!drops) CHECK_THROWS_WITH(run.get(), "planned");
    }
    {  // nobody asks
      auto run = ex.run(g);
      static_cast<void>(ex.submit(heist::after(run), [] {}));
      run = {};
      gate.set_value();
      CHECK_THROWS_WITH(ex.wait_idle(), "planned");
      CHECK_NOTHROW(ex.wait_idle());
    }
    throws = false;
    {
      auto run = ex.run(g);
      auto after = ex.submit(heist::after(run), [] { FAIL("comes after a run that was stopped"); });
      auto always = ex.submit(heist::after_always(run), [](heist::shared_future<void> f) {
        CHECK(f.is_ready());
        CHECK_THROWS_AS(f.get(), heist::stopped_error);
      });
      run.request_stop();
      CHECK_THROWS_AS(after.get(), heist::stopped_error);
      always.get();
      static_cast<void>(ex.submit(heist::after(run), [] {}));
      ex.wait_idle();  // it does not report a stopped task whose handle was dropped
    }
    CHECK_THROWS_AS(ex.submit(heist::after(heist::graph_run{}), [] {}), heist::executor_error);
  }
}

TEST_CASE("after: a run, waited for in a task of that run, is a circle that is refused", "[dynamic][bad input]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  heist::task_graph g;
  std::atomic<heist::graph_run*> run{nullptr};
  bool rejected = false;
  g.emplace([&](heist::context c) {
    run.wait(nullptr);
    auto after = c.submit(heist::after(*run.load()), [] {});
    try {
      after.get();
    } catch (heist::executor_error const&) {
      rejected = true;
    }
  });
  heist::graph_run own = ex.run(g);
  run = &own;
  run.notify_all();
  own.get();
  CHECK(rejected);
}

TEST_CASE("after: the executor of a run is destroyed before the task that came after it is asked for", "[dynamic]") {
  heist::executor ex{1};
  heist::graph_run run;
  heist::future<int> f;
  {
    heist::task_graph g;
    g.emplace([] { throw std::runtime_error{"planned"}; });
    heist::executor gone{2};
    run = gone.run(g);
    f = ex.submit(heist::after(run), [] { return 1; });
  }
  CHECK_THROWS_WITH(f.get(), "planned");
  CHECK_THROWS_WITH(ex.submit(heist::after(run), [] {}).get(), "planned");
}

TEST_CASE("after_always: a task comes whatever became of the others, and gets their handles", "[dynamic]") {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{ex, 60s};
    auto const good = ex.submit([] { return std::string{"here"}; }).share();
    auto bad = ex.submit([]() -> int& { throw std::runtime_error{"boom"}; });
    std::vector<heist::future<int>> many;
    for (int i = 0; i != 20; ++i) {
      many.push_back(ex.submit([i] {
        if (i % 2 != 0) throw i;
        return i;
      }));
    }
    heist::task_graph g;
    g.emplace([] {});
    auto told = ex.submit(heist::after_always(good, std::move(bad), std::move(many), ex.run(g), ex.submit([] {})),
                          [](heist::context, heist::shared_future<std::string> const& text,
                             heist::shared_future<int&> failed, std::vector<heist::shared_future<int>> all,
                             heist::shared_future<void> run, heist::shared_future<void> nothing) {
                            run.get();
                            nothing.get();
                            CHECK_THROWS_WITH(failed.get(), "boom");
                            int sum = 0;
                            for (auto& f : all) {
                              try {
                                sum += f.get();
                              } catch (int i) {
                                sum += 1000 * i;
                              }
                            }
                            return text.get() + std::to_string(sum);
                          });
    CHECK(told.get() == "here100090");
    CHECK_FALSE(bad.valid());
    ex.wait_idle();

    // wait_idle() reports an exception that the callable does not ask for.
    ex.submit(heist::after_always(ex.submit([] { throw std::runtime_error{"unasked"}; })), [](auto) {}).get();
    CHECK_THROWS_WITH(ex.wait_idle(), "unasked");
    // An exception of its own; a range without futures; a stop of its own.
    CHECK_THROWS_WITH(ex.submit(heist::after_always(good), [](auto) { throw std::runtime_error{"own"}; }).get(), "own");
    std::vector<heist::shared_future<int>> const none;
    CHECK(ex.submit(heist::after_always(none), [](auto all) { return all.empty(); }).get());
    std::stop_source stop;
    stop.request_stop();
    bool called = false;
    auto const skipped = [&](auto) { called = true; };
    CHECK_THROWS_AS(ex.submit(heist::after_always(good), heist::with{.stop = stop.get_token()}, skipped).get(),
                    heist::stopped_error);
    CHECK_THROWS_AS(ex.submit(heist::with{.stop = stop.get_token()}, heist::after_always(good), skipped).get(),
                    heist::stopped_error);
    CHECK_FALSE(called);
    CHECK_THROWS_AS(ex.submit(heist::after_always(heist::future<int>{}), [](auto) {}), heist::executor_error);
  }
}

TEST_CASE("make_ready_future: values of every kind, exceptions, and what comes after them", "[dynamic]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  auto text = heist::make_ready_future(std::string{"here"});
  STATIC_REQUIRE(std::is_same_v<decltype(text), heist::future<std::string>>);
  CHECK(text.is_ready());
  CHECK(text.wait_for(0s));
  CHECK(text.get() == "here");
  CHECK_FALSE(text.valid());
  heist::make_ready_future().get();
  CHECK(*heist::make_ready_future(std::make_unique<int>(3)).get() == 3);
  std::string const named = "named";
  CHECK(heist::make_ready_future(named).get() == "named");
  static_cast<void>(heist::make_ready_future(std::vector<int>(1000)));  // dropped

  CHECK(ex.submit(heist::after(heist::make_ready_future(20).share()), [](int x) { return x + 1; }).get() == 21);
  CHECK(ex.submit(heist::after(heist::make_ready_future(std::make_unique<int>(1))), [](auto p) { return *p; }).get() ==
        1);
  CHECK(std::get<0>(heist::when_all(heist::make_ready_future(1), ex.submit([] { return 2; })).get()) == 1);
  std::vector<heist::future<int>> all;
  all.push_back(heist::make_ready_future(1));
  all.push_back(ex.submit([] { return 2; }));
  CHECK(heist::when_all(std::move(all)).get() == std::vector<int>{1, 2});

  auto const boom = std::make_exception_ptr(std::runtime_error{"no"});
  CHECK_THROWS_WITH(heist::make_exceptional_future<int>(boom).get(), "no");
  CHECK_THROWS_WITH(heist::make_exceptional_future<void>(boom).share().get(), "no");
  CHECK_THROWS_WITH(ex.submit(heist::after(heist::make_exceptional_future<int&>(boom)), [](int&) {}).get(), "no");
  static_cast<void>(heist::make_exceptional_future<int>(boom));
  ex.wait_idle();
  // wait_idle() reports the exception if the program drops a task that comes after such a future.
  static_cast<void>(ex.submit(heist::after(heist::make_exceptional_future<int>(boom)), [](int) {}));
  CHECK_THROWS_WITH(ex.wait_idle(), "no");
  CHECK_THROWS_AS(heist::make_exceptional_future<int>(nullptr), heist::executor_error);
  CHECK_THROWS_AS(heist::make_ready_future(1).then([](int) {}), heist::executor_error);

  struct copy_throws {
    copy_throws() = default;
    copy_throws(copy_throws const&) { throw 1; }
  } const value;
  CHECK_THROWS_AS(heist::make_ready_future(value), int);
}

TEST_CASE("current_executor, current_worker: in tasks, in what they fork, and nothing outside", "[dynamic]") {
  heist::executor ex{2}, other{1};
  heist_test::watchdog guard{ex, 60s};
  CHECK_FALSE(heist::current_executor().has_value());
  CHECK_FALSE(heist::current_worker().has_value());
  ex.submit([&](heist::context c) {
      CHECK(heist::current_executor() == heist::executor_ref{ex});
      CHECK(heist::current_worker() == c.worker_id());
      c.fork_join([&] { CHECK(heist::current_executor() == heist::executor_ref{ex}); },
                  [&] { CHECK(*heist::current_worker() < 2); });
      CHECK(other.submit([] { return *heist::current_executor(); }).get() == heist::executor_ref{other});
      CHECK(heist::current_executor() == heist::executor_ref{ex});
      c.blocking([] { CHECK_FALSE(heist::current_executor().has_value()); });
      // A library without a context starts a task beside the caller.
      CHECK(heist::current_executor()->submit([] { return 1; }).get() == 1);
    }).get();
  CHECK(ex.run_here([] { return !heist::current_worker().has_value(); }));
}

TEMPLATE_TEST_CASE("current_stack: a task keeps its own over its waits, and shares it with none that runs beside it",
                   "[dynamic]", heist::policy::random,
                   (heist::policy::with_order<heist::policy::random, heist::order::child_first>), heist::policy::cab) {
  heist::executor<TestType> ex{std::size_t{2}};
  heist_test::watchdog guard{ex, 60s};
  CHECK(heist::current_stack() == nullptr);
  std::atomic<int> changed{0}, shared{0};
  ex.invoke([&](auto c) {
    for (int i = 0; i != 50; ++i) {
      std::atomic<void const*> marks[4]{};
      heist::latch begun{4};
      {
        heist::scope s{c};
        for (auto& mark : marks) {
          s.fork([&](auto d) {
            mark = heist::current_stack();
            d.fork_join([&](auto e) { e.submit([] {}).get(); }, [] {});
            begun.arrive_and_wait();  // all four have begun, and none has ended
            changed += mark != heist::current_stack();
          });
        }
      }
      for (int a = 0; a != 4; ++a) {
        for (int b = 0; b != a; ++b) shared += marks[a].load() == marks[b].load();
      }
    }
  });
  CHECK(changed == 0);
  CHECK(shared == 0);
}
