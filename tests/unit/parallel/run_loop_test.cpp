// heist::run_loop: tasks for one thread, added from everywhere.
#include "heist/run_loop.hpp"

#include <atomic>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "heist/async.hpp"
#include "heist/graph.hpp"
#include "support/catch.hpp"

TEST_CASE("run_loop: poll runs what is queued, in turn, and nothing that comes meanwhile", "[run_loop]") {
  heist::run_loop loop;
  std::vector<int> order;
  CHECK(loop.poll() == 0);
  for (int i = 0; i != 3; ++i) {
    loop.post([&order, &loop, i] {
      order.push_back(i);
      loop.post([&order, i] { order.push_back(10 + i); });
    });
  }
  CHECK(loop.poll() == 3);
  CHECK(order == std::vector<int>{0, 1, 2});
  CHECK(loop.poll() == 3);
  CHECK(order == std::vector<int>{0, 1, 2, 10, 11, 12});
}

TEST_CASE("run_loop: tasks of an executor get results from the thread of the loop", "[run_loop]") {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::run_loop loop;
    heist::executor ex{workers};
    auto const here = std::this_thread::get_id();
    std::atomic<int> right{0};
    heist::task_graph g;
    for (int i = 0; i != 50; ++i) {
      g.emplace([&, i] {
        auto const where = loop.submit([i] { return std::pair{i * i, std::this_thread::get_id()}; }).get();
        if (where.first == i * i && where.second == here && std::this_thread::get_id() != here) ++right;
      });
    }
    auto run = ex.run(g);
    loop.run_until(run);
    run.get();
    CHECK(right == 50);
    auto sum = ex.submit([&] {
      int s = 0;
      for (int i = 0; i != 100; ++i) s += loop.submit([i] { return i; }).get();
      return s;
    });
    loop.run_until(sum);
    CHECK(sum.get() == 4950);
    auto const shared = ex.submit([&] { return loop.submit([] { return std::string{"here"}; }).get(); }).share();
    loop.run_until(shared);
    loop.run_until(shared);  // it is ready
    CHECK(shared.get() == "here");
  }
}

TEST_CASE("run_loop: a task comes after one of the loop", "[run_loop]") {
  heist::run_loop loop;
  heist::executor ex{2};
  auto first = loop.submit([] { return 20; });
  CHECK(!first.is_ready());
  auto after = ex.submit(heist::after(std::move(first)), [](int x) { return x + 1; });
  auto void_one = loop.submit([] {}).share();
  auto last = ex.submit(heist::after(after.share(), void_one), [](int x) { return 2 * x; });
  loop.run_until(last);
  CHECK(last.get() == 42);
}

TEST_CASE("run_loop: run ends at finish, when nothing is queued", "[run_loop]") {
  heist::run_loop loop;
  std::atomic<int> n{0};
  std::vector<std::thread> threads;
  for (int t = 0; t != 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i != 1000; ++i) loop.post([&n] { ++n; });
    });
  }
  std::thread ender{[&] {
    for (auto& t : threads) t.join();
    loop.finish();
  }};
  CHECK(loop.run() == 4000);
  ender.join();
  CHECK(n == 4000);
  loop.post([&n] { ++n; });
  CHECK(loop.run() == 1);  // it stays finished
  CHECK(loop.run() == 0);
}

TEST_CASE("run_loop: exceptions reach the future, or the call that ran the task", "[run_loop]") {
  heist::run_loop loop;
  auto f = loop.submit([]() -> int { throw std::runtime_error{"submitted"}; });
  int after = 0;
  loop.post([] { throw std::logic_error{"posted"}; });
  loop.post([] { throw std::runtime_error{"posted later"}; });
  loop.post([&after] { ++after; });
  CHECK_THROWS_AS(loop.poll(), std::logic_error);
  CHECK(after == 1);
  CHECK_THROWS_AS(f.get(), std::runtime_error);
  CHECK(loop.poll() == 0);

  // The exception is thrown only after the run is over: a task of the run waits for the loop.
  heist::executor ex{1};
  auto task = ex.submit([&] {
    loop.post([] { throw std::logic_error{"posted"}; });
    return loop.submit([] { return 7; }).get();
  });
  CHECK_THROWS_AS(loop.run_until(task), std::logic_error);
  CHECK(task.is_ready());
  CHECK(task.get() == 7);
}

TEST_CASE("run_loop: what has not run when it is destroyed never runs", "[run_loop]") {
  auto const owned = std::make_shared<int>(1);
  std::optional<heist::run_loop> loop{std::in_place};
  auto f = loop->submit([owned] { return *owned; });
  loop->post([owned] { FAIL("ran"); });
  struct posts_at_its_end {
    heist::run_loop* loop;
    std::shared_ptr<int> owned;
    ~posts_at_its_end() {
      if (owned) loop->post([o = owned] { FAIL("ran"); });
    }
    posts_at_its_end(heist::run_loop& l, std::shared_ptr<int> o) : loop{&l}, owned{std::move(o)} {}
    posts_at_its_end(posts_at_its_end&&) = default;
    void operator()() const { FAIL("ran"); }
  };
  loop->post(posts_at_its_end{*loop, owned});
  heist::executor ex{1};
  std::atomic<bool> added{false};
  auto waits = ex.submit([&] {
    auto mine = loop->submit([] { return 1; });
    added = true;
    return mine.get();
  });
  while (!added) std::this_thread::yield();
  loop.reset();
  CHECK_THROWS_AS(waits.get(), heist::stopped_error);
  CHECK_THROWS_AS(f.get(), heist::stopped_error);
  CHECK(owned.use_count() == 1);
}

TEST_CASE("run_loop: its tasks run it again, and several threads run it", "[run_loop]") {
  heist::run_loop loop;
  heist::executor ex{2};
  int depth = 0;
  loop.post([&] {
    auto inner = ex.submit([&] { return loop.submit([&] { return ++depth; }).get(); });
    loop.run_until(inner);
    depth += 10 * inner.get();
  });
  CHECK(loop.poll() == 1);
  CHECK(depth == 11);

  std::atomic<int> n{0};
  std::vector<std::thread> threads;
  std::atomic<std::size_t> ran{0};
  for (int t = 0; t != 3; ++t) threads.emplace_back([&] { ran += loop.run(); });
  std::vector<heist::future<void>> posts;
  for (int t = 0; t != 2; ++t) {
    posts.push_back(ex.submit([&] {
      for (int i = 0; i != 500; ++i) loop.submit([&n] { ++n; }).get();
    }));
  }
  std::atomic<int> ended{0};
  for (int t = 0; t != 2; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i != 100; ++i) {
        auto f = ex.submit([&] { return loop.submit([&n] { ++n; }).get(); });
        loop.run_until(f);
        ended += f.is_ready() ? 1 : 0;
      }
    });
  }
  for (auto& p : posts) p.get();
  threads[3].join();
  threads[4].join();
  loop.finish();
  for (int t = 0; t != 3; ++t) threads[static_cast<std::size_t>(t)].join();
  CHECK(n == 1200);
  CHECK(ended == 200);
}

TEST_CASE("run_loop: a task of an executor runs a loop, and parks meanwhile", "[run_loop]") {
  heist::executor ex{1};
  heist::run_loop loop;
  auto served = ex.submit([&] { return loop.run(); });
  auto client = ex.submit([&] {
    int s = 0;
    for (int i = 0; i != 20; ++i) s += loop.submit([i] { return i; }).get();
    loop.finish();
    return s;
  });
  CHECK(client.get() == 190);
  CHECK(served.get() == 20);
}
