// Tests heist's own behaviour under Taskflow's names: waits that park, exceptions, cancelled runs, deferred tokens,
// policies.
#define HEIST_COMPAT_POLICY heist::policy::sampling

#include <taskflow/algorithm/data_pipeline.hpp>
#include <taskflow/algorithm/find.hpp>
#include <taskflow/algorithm/for_each.hpp>
#include <taskflow/algorithm/module.hpp>
#include <taskflow/algorithm/pipeline.hpp>
#include <taskflow/algorithm/reduce.hpp>
#include <taskflow/algorithm/sort.hpp>
#include <taskflow/observer/chrome.hpp>
#include <taskflow/taskflow.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include "support/watchdog.hpp"

using namespace std::chrono_literals;

static_assert(std::is_same_v<tf::Executor::policy, heist::policy::sampling>);

namespace {

struct guard : heist_test::watchdog {
  guard(char const* name, tf::Executor& ex)
      : watchdog{name, 120s, [&ex] { return ex.heist_executor().state_text(); }} {}
};

long fib(int n, tf::Executor& ex) {
  if (n < 2) return n;
  long a = 0, b = 0;
  tf::Taskflow flow;
  flow.emplace([&] { a = fib(n - 1, ex); });
  flow.emplace([&] { b = fib(n - 2, ex); });
  ex.corun(flow);
  return a + b;
}

}  // namespace

TEST_CASE("compat_taskflow: corun parks, so one worker is enough for any depth") {
  tf::Executor ex{1};
  guard const watch{"corun", ex};
  CHECK(ex.async([&] { return fib(10, ex); }).get() == 55);
  // Each waits for the next.
  std::function<int(int)> down = [&](int n) {
    if (n == 0) return 0;
    int below = 0;
    tf::Taskflow flow;
    flow.emplace([&] { below = down(n - 1); });
    ex.corun(flow);
    return below + 1;
  };
  CHECK(ex.async([&] { return down(300); }).get() == 300);
}

TEST_CASE("compat_taskflow: corun_until lets the others run") {
  tf::Executor ex{1};
  guard const watch{"corun_until", ex};
  std::atomic<bool> told = false;
  ex.async([&] {
      ex.silent_async([&] { told = true; });
      ex.corun_until([&] { return told.load(); });
    }).get();
  CHECK(told);
  CHECK_THROWS_AS(ex.corun_until([] { return true; }), std::runtime_error);
}

TEST_CASE("compat_taskflow: an exception ends a run, and the next begins anew") {
  tf::Executor ex{2};
  guard const watch{"exceptions", ex};
  tf::Taskflow flow;
  bool fails = true;
  std::atomic<int> after = 0;
  auto first = flow.emplace([&](tf::Subflow& inner) {
    inner.emplace([&] {
      if (fails) throw std::logic_error{"inner"};
    });
  });
  first.precede(flow.emplace([&] { ++after; }));
  CHECK_THROWS_AS(ex.run_n(flow, 5).get(), std::logic_error);
  CHECK(after == 0);
  fails = false;
  ex.run_n(flow, 5).get();
  CHECK(after == 5);
  // In a join it is caught where the join is.
  flow.clear();
  bool caught = false;
  flow.emplace([&](tf::Subflow& inner) {
    inner.emplace([] { throw 1; });
    try {
      inner.join();
    } catch (int) {
      caught = true;
    }
  });
  ex.run(flow).get();
  CHECK(caught);
  CHECK_THROWS_AS(ex.async([](tf::Runtime& rt) { rt.silent_async([] { throw std::logic_error{"child"}; }); }).get(),
                  std::logic_error);
}

TEST_CASE("compat_taskflow: a cancelled run skips what has not begun") {
  tf::Executor ex{2};
  guard const watch{"cancel", ex};
  tf::Taskflow flow;
  std::atomic<bool> started = false, go = false;
  std::atomic<int> late = 0;
  auto first = flow.emplace([&] {
    started = true;
    while (!go) std::this_thread::yield();
  });
  for (int i = 0; i != 10; ++i) first.precede(flow.emplace([&] { ++late; }));
  auto run = ex.run_until(flow, [] { return false; });
  while (!started) std::this_thread::yield();
  CHECK(run.cancel());
  go = true;
  run.get();
  CHECK(late == 0);
  ex.wait_for_all();
  CHECK_FALSE(run.cancel());
}

TEST_CASE("compat_taskflow: what runs may own its taskflow, and end while another thread destroys things") {
  tf::Executor ex{2};
  guard const watch{"owned", ex};
  std::atomic<int> n = 0;
  for (int i = 0; i != 200; ++i) {
    tf::Taskflow flow;
    flow.emplace([&] { ++n; }, [&] { ++n; });
    if (i % 2 == 0) {
      ex.run_n(std::move(flow), 2);
    } else {
      ex.run(flow).wait();  // and the taskflow goes
    }
  }
  {
    tf::Executor brief{1};
    for (int i = 0; i != 100; ++i) brief.silent_async([&] { ++n; });
  }
  ex.wait_for_all();
  CHECK(n == 100 * 4 + 100 * 2 + 100);
}

TEST_CASE("compat_taskflow: handles of asyncs may be captured by others, and outlive the executor") {
  tf::AsyncTask last;
  {
    tf::Executor ex{2};
    guard const watch{"handles", ex};
    std::vector<int> order;
    for (int i = 0; i != 100; ++i)
      last = ex.silent_dependent_async(
          "named", [&order, i, before = last] { order.push_back(i); }, last);
    auto [task, future] = ex.dependent_async([&] { return order.size(); }, last);
    CHECK(future.get() == 100);
    CHECK(std::is_sorted(order.begin(), order.end()));
  }
  CHECK(last.is_done());
  CHECK(last.use_count() == 1);
}

TEST_CASE("compat_taskflow: a token that is deferred comes after the one that it waits for") {
  tf::Executor ex{2};
  guard const watch{"defer", ex};
  for (std::size_t const lines : {1u, 2u, 5u}) {
    std::vector<std::size_t> seen;
    std::size_t deferrals = 0;
    tf::Pipeline pl{lines,
                    tf::Pipe{tf::PipeType::SERIAL,
                             [](tf::Pipeflow& pf) {
                               if (pf.token() == 60) return pf.stop();
                               // The first of each three tokens waits for the other two.
                               if (pf.token() % 3 == 0 && pf.num_deferrals() == 0) {
                                 pf.defer(pf.token() + 1);
                                 pf.defer(pf.token() + 2);
                               }
                             }},
                    tf::Pipe{tf::PipeType::SERIAL, [&](tf::Pipeflow& pf) {
                               seen.push_back(pf.token());
                               deferrals += pf.num_deferrals();
                             }}};
    tf::Taskflow flow;
    flow.composed_of(pl);
    ex.run(flow).get();
    REQUIRE(seen.size() == 60);
    CHECK(pl.num_tokens() == 60);
    CHECK(deferrals == 20);
    for (std::size_t i = 0; i != 60; ++i) CHECK(seen[i] == i / 3 * 3 + (i % 3 + 1) % 3);
    seen.clear();
    pl.reset();
    ex.run(flow).get();
    CHECK(seen.size() == 60);
  }
}

TEST_CASE("compat_taskflow: loops over lists, bounds that are known late, wrappers around tasks") {
  tf::Executor ex{3};
  guard const watch{"loops", ex};
  std::list<int> values;
  std::list<int>::iterator first, last;
  std::atomic<int> sum = 0, wrapped = 0;
  tf::Taskflow flow;
  auto fill = flow.emplace([&] {
    values.assign(1000, 1);
    first = values.begin();
    last = values.end();
  });
  auto around = [&](auto&& task) {
    ++wrapped;
    task();
  };
  flow.for_each(
          std::ref(first), std::ref(last), [&](int& x) { sum += x; }, tf::StaticPartitioner(7, around))
      .succeed(fill);
  std::list<int>::iterator found;
  flow.find_if(std::ref(first), std::ref(last), found, [](int x) { return x != 1; }).succeed(fill);
  ex.run(flow).get();
  CHECK(sum == 1000);
  CHECK(wrapped == 3);
  CHECK(found == values.end());
  int total = 5;
  flow.clear();
  flow.reduce_by_index(
      tf::IndexRanges(tf::IndexRange<int>(0, 10, 1), tf::IndexRange<int>(0, 30, 3)), total,
      [](tf::IndexRanges<int, 2> const& box, std::optional<int> before) {
        return before.value_or(0) + static_cast<int>(box.size());
      },
      std::plus<>{}, tf::RandomPartitioner());
  ex.run(flow).get();
  CHECK(total == 105);
}

TEST_CASE("compat_taskflow: observers, workers, dumps") {
  std::atomic<int> starts = 0, ends = 0;
  struct counting : tf::WorkerInterface {
    std::atomic<int>&starts, &ends;
    counting(std::atomic<int>& s, std::atomic<int>& e) : starts{s}, ends{e} {}
    void scheduler_prologue(tf::Worker& w) override { starts += w.thread().get_id() == std::this_thread::get_id(); }
    void scheduler_epilogue(tf::Worker&, std::exception_ptr why) override { ends += why == nullptr; }
  };
  {
    tf::Executor ex{3, tf::make_worker_interface<counting>(starts, ends)};
    guard const watch{"observers", ex};
    auto seen = ex.make_observer<tf::ChromeObserver>();
    tf::Taskflow flow{"all kinds"}, inner;
    inner.emplace([] {}).name("inner task");
    flow.composed_of(inner).name("module");
    flow.emplace([](tf::Subflow& s) { s.emplace([] {}).name("kept"), s.retain(true); }).name("subflow");
    flow.emplace([] { return 0; }).name("condition").precede(flow.emplace([] {}));
    ex.run(flow).get();
    CHECK(seen->num_tasks() == 5);
    CHECK(seen->dump().find("\"dur\":") != std::string::npos);
    for (char const* part : {"Taskflow: all kinds", "inner task", "kept", "diamond", "style=dashed"})
      CHECK(flow.dump().find(part) != std::string::npos);
    CHECK(ex.this_worker() == nullptr);
    CHECK(ex.async([&] { return ex.this_worker_id(); }).get() < 3);
  }
  CHECK(starts == 3);
  CHECK(ends == 3);
}

TEST_CASE("compat_taskflow: a reduction folds the first two elements in their order") {
  // OpenTimer's order of paths with equal slack depends on it.
  tf::Executor executor{4};
  std::vector<int> const numbers{0, 1, 2};
  for (int i = 0; i != 100; ++i) {
    tf::Taskflow taskflow;
    std::string plain, transformed;
    std::vector<std::string> const texts{"0", "1", "2"};
    auto const join = [](std::string a, std::string const& b) { return a + b; };
    taskflow.reduce(texts.begin(), texts.end(), plain, join);
    taskflow.transform_reduce(numbers.begin(), numbers.end(), transformed, join, [](int n) {
      std::this_thread::sleep_for(100us);  // so that other tasks take their parts
      return std::to_string(n);
    });
    executor.run(taskflow).wait();
    REQUIRE(plain.size() == 3);
    REQUIRE(plain.find("01") != std::string::npos);
    REQUIRE(transformed.find("01") != std::string::npos);
  }
}

TEST_CASE("compat_taskflow: a group's asyncs are forks, and keep what Taskflow says of them") {
  for (std::size_t const workers : {1u, 3u}) {
    tf::Executor ex{workers};
    guard const watch{"group", ex};
    ex.async([&] {
        auto group = ex.task_group();
        // All wait for what comes after them: none may be called in place before that.
        std::atomic<bool> open{workers == 1};
        std::atomic<int> ran{0};
        for (int i = 0; i != 3000; ++i) {
          group.silent_async([&] {
            while (!open) std::this_thread::yield();
            ++ran;
          });
        }
        CHECK(group.size() <= 3000);
        open = true;
        group.corun();
        CHECK(ran == 3000);
        CHECK(group.size() == 0);

        // The first exception comes to corun(), once. Asyncs that have not begun are skipped.
        std::atomic<int> after{0};
        for (int i = 0; i != 50; ++i) {
          group.silent_async([&after, i] {
            if (i == 49) throw std::runtime_error{"the last"};
            ++after;
          });
        }
        CHECK_THROWS_WITH(group.corun(), "the last");
        CHECK(after < 50);
        group.silent_async([&after] { after = 100; });
        group.corun();
        CHECK(after == 100);

        // Cancelled: nothing runs until the next corun().
        group.cancel();
        group.silent_async([&after] { after = 200; });
        CHECK(group.is_cancelled());
        group.corun();
        CHECK(after == 100);
        CHECK_FALSE(group.is_cancelled());

        // Used by its own tasks, and with every kind of async.
        std::atomic<int> all{0};
        std::future<int> result;
        group.silent_async([&] {
          for (int i = 0; i != 10; ++i) group.silent_async([&all] { ++all; });
        });
        group.silent_async("named", [&all] { ++all; });
        group.silent_async([&all](tf::Runtime& rt) { rt.silent_async([&all] { ++all; }); });
        result = group.async([&all] { return ++all, 7; });
        group.corun();
        CHECK(all == 13);
        CHECK(result.get() == 7);
        // Nothing waits for this group. It ends when its forks have ended.
        auto left = std::make_unique<tf::TaskGroup>(ex);
        left->silent_async([&all] { ++all; });
        left.reset();
        CHECK(all == 14);
      }).get();
  }
}

TEST_CASE("compat_taskflow: groups within groups, under a lock, and waited for by another task") {
  tf::Executor ex{1};
  guard const watch{"groups", ex};
  // Deeper than one stack has frames for.
  std::function<int(int)> deep = [&](int n) {
    if (n == 0) return 0;
    int below = 0;
    auto group = ex.task_group();
    group.silent_async([&] { below = deep(n - 1); });
    group.corun();
    return below + 1;
  };
  CHECK(ex.async([&] { return deep(3000); }).get() == 3000);

  // The maker holds the lock that they take.
  ex.async([&] {
      std::mutex lock;
      int n = 0;
      std::vector<std::unique_ptr<tf::TaskGroup>> groups;
      for (int i = 0; i != 5; ++i) groups.push_back(std::make_unique<tf::TaskGroup>(ex));
      {
        std::lock_guard const guard{lock};
        for (auto& group : groups) {
          for (int i = 0; i != 1024; ++i) {
            group->silent_async([&] {
              std::lock_guard const inside{lock};
              ++n;
            });
          }
        }
      }
      for (auto& group : groups) group->corun();
      CHECK(n == 5 * 1024);
    }).get();

  // An async looks at the size while others end.
  std::atomic<bool> right{true};
  ex.async([&] {
      auto group = ex.task_group();
      group.silent_async(tf::DefaultTaskParams{}, [&] {
        for (int i = 0; i != 1000; ++i) {
          if (group.size() > 101) right = false;
        }
      });
      for (int i = 0; i != 100; ++i) group.silent_async([] {});
      group.corun();
    }).get();
  CHECK(right);

  ex.async([&] {
      auto group = ex.task_group();
      std::atomic<int> n{0};
      std::atomic<bool> done{false};
      for (int i = 0; i != 50; ++i) group.silent_async([&] { ++n; });
      ex.silent_async([&] {
        group.corun();
        if (n != 50) right = false;
        done = true;
      });
      ex.corun_until([&] { return done.load(); });
    }).get();
  CHECK(right);
}

TEST_CASE("compat_taskflow: misuse is refused") {
  tf::Executor ex{1};
  guard const watch{"misuse", ex};
  CHECK_THROWS_AS(tf::Executor{0}, std::runtime_error);
  CHECK_THROWS_AS(ex.task_group(), std::runtime_error);
  tf::Taskflow flow;
  CHECK_THROWS_AS(ex.corun(flow), std::runtime_error);
  CHECK_THROWS_AS((tf::Pipeline{0, tf::Pipe{tf::PipeType::SERIAL, [](tf::Pipeflow&) {}}}), std::runtime_error);
  CHECK_THROWS_AS((tf::Pipeline{1, tf::Pipe{tf::PipeType::PARALLEL, [](tf::Pipeflow&) {}}}), std::runtime_error);
  tf::Semaphore full{1};
  flow.emplace([] {}).release(full);
  CHECK_THROWS_AS(ex.run(flow).get(), std::runtime_error);
  flow.clear();
  flow.emplace([](tf::Subflow& s) {
    s.join();
    s.join();
  });
  CHECK_THROWS_AS(ex.run(flow).get(), std::runtime_error);
}
