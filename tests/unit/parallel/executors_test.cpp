// The process's executor, executors without a template parameter, storage for each worker.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <stop_token>
#include <thread>
#include <type_traits>
#include <vector>

#include "heist/algorithm.hpp"
#include "heist/async.hpp"
#include "heist/automatic.hpp"
#include "heist/flow.hpp"
#include "heist/graph.hpp"
#include "heist/pipeline.hpp"
#include "heist/replay.hpp"
#include "heist/topology.hpp"
#include "support/catch.hpp"

TEST_CASE("executors: tasks that a task submits first in, first out begin in that order", "[executors]") {
  heist::executor ex{1};
  std::vector<int> order;
  auto const note = [&order](int i) { return [&order, i] { order.push_back(i); }; };
  ex.submit([&] {
      ex.post(note(9));  // its own newest first
      ex.post(note(8));
      for (int i = 0; i != 3; ++i) ex.post(heist::with{.fifo = true}, note(i));
      heist::executor_ref const any{ex};
      any.post(heist::with{.fifo = true}, note(3));
      auto last = any.submit(heist::with{.fifo = true, .name = "last"}, note(4));
      static_cast<void>(ex.submit(heist::with{.priority = heist::priority::high}, note(7)));
      last.get();
    }).get();
  ex.wait_idle();
  std::erase_if(order, [](int i) { return i > 4; });
  CHECK(order == std::vector<int>{0, 1, 2, 3, 4});
  ex.post(heist::with{.fifo = true}, [] { throw std::runtime_error{"posted"}; });
  CHECK_THROWS_AS(ex.wait_idle(), std::runtime_error);
}

TEST_CASE("default_executor: one for the process", "[dynamic]") {
  CHECK(&heist::default_executor() == &heist::default_executor());
  CHECK(heist::default_executor().submit([] { return 1; }).get() == 1);
}

TEST_CASE("executor_ref: as the executor that it refers to", "[dynamic]") {
  heist::executor one{1};
  heist::executor<heist::policy::replay> other{1};
  for (heist::executor_ref ex : {heist::executor_ref{one}, heist::executor_ref{other}}) {
    CHECK(ex.worker_count() == 1);
    CHECK(ex.invoke([](heist::context c) {
      auto [a, b] = c.fork_join([] { return 1; }, [] { return 2; });
      return a + b;
    }) == 3);
    CHECK(ex.submit(heist::after(ex.submit([] { return 1; })), [](int x) { return x; }).get() == 1);
    heist::task_graph g;
    int n = 0;
    g.emplace([&] { ++n; });
    ex.run_n(g, 3).get();
    CHECK(n == 3);
    ex.wait_idle();
  }
  CHECK(heist::executor_ref{one} == heist::executor_ref{one});
}

TEST_CASE("executor_ref: algorithms run on it", "[dynamic]") {
  heist::executor two{2};
  heist::executor_ref const ex{two};
  std::vector<int> v(10'000);
  CHECK(heist::for_each_index(ex, 0, 10'000, [&](int i) { v[static_cast<std::size_t>(i)] = 10'000 - i; }));
  heist::sort(ex, v);
  CHECK(v[0] == 1);
  CHECK(heist::reduce(ex, v, 0) == 50'005'000);
  CHECK(ex.submit([ex, &v] { return heist::count(ex, v, 7); }).get() == 1);  // inside
}

TEST_CASE("handles: a copy acts for the same, or there is none", "[dynamic]") {
  auto const copied = []<class... T>(std::type_identity<T>...) { return (std::is_copy_constructible_v<T> || ...); };
  using std::type_identity;
  STATIC_REQUIRE_FALSE(copied(type_identity<heist::executor<>>{}, type_identity<heist::scope<>>{},
                              type_identity<heist::task_graph>{}, type_identity<heist::graph_run>{},
                              type_identity<heist::limiter>{}, type_identity<heist::region>{},
                              type_identity<heist::flow>{}, type_identity<heist::datum<int>>{},
                              type_identity<heist::token>{}, type_identity<heist::future<int>>{},
                              type_identity<heist::per_worker<int>>{}, type_identity<heist::no_migrate>{}));
  // Those that may be copied.
  heist::executor ex{1};
  heist::task_graph g;
  auto t = g.emplace([] {}), copy = t;
  copy.name("both");
  CHECK(t.name() == "both");
  auto stopped = ex.submit([]() -> int { throw heist::stopped_error{}; }).share();
  auto const same = stopped;
  CHECK_THROWS_WITH(same.get(), "stopped");
  std::stop_source stop;
  stop.request_stop();
  ex.invoke([&](heist::context c) {
    auto const d = c;
    CHECK(d.submit(heist::with{.stop = stop.get_token()}, [] {}).valid());
    CHECK(d.worker_id() == c.worker_id());
  });
}

TEST_CASE("per_worker: each worker has its own", "[dynamic]") {
  heist::executor ex{3}, other{1};
  heist::per_worker<long> counts{ex, 0L};
  for (int i = 0; i < 1000; ++i) ex.post([&] { ++counts.local(); });
  ex.wait_idle();
  long sum = 0;
  counts.for_each([&](long n) { sum += n; });
  CHECK(sum == 1000);
  CHECK(counts.size() == 3);
  CHECK_THROWS_AS(counts.local(), heist::executor_error);
  CHECK_THROWS_AS(other.invoke([&] { return counts.local(); }), heist::executor_error);
}

TEST_CASE("per_worker: policy::automatic may run a region elsewhere, and each worker there has its own, too",
          "[dynamic]") {
  heist::executor<heist::policy::automatic> ex{
      {.workers = 2, .machine = heist::topology::parse("package:1 l3:1 core:2 pu:1")}};
  heist::executor<> other{1};
  heist::per_worker<long> counts{ex, 0L};
  CHECK(counts.size() == 2 * 3);
  heist::region r;
  for (int i = 0; i < 100; ++i) {
    ex.invoke(r, [&](heist::context c) {
      c.fork_join([&] { ++counts.local(); }, [&] { ++counts.local(); });
      std::this_thread::sleep_for(std::chrono::milliseconds{1});  // so that another executor may be worth its start
    });
  }
  long sum = 0, remote = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    sum += counts[i];
    if (i >= 2) remote += counts[i];
  }
  CHECK(sum == 200);
  CHECK(remote != 0);  // replay is tried
  CHECK_THROWS_AS(other.invoke([&] { return counts.local(); }), heist::executor_error);
}
