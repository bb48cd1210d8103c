// Tests executors that share a limit of threads. No more workers work than it allows, all work ends, and no executor
// starves.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include "heist/algorithm.hpp"
#include "heist/async.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/graph.hpp"
#include "heist/policy.hpp"
#include "heist/thread_limit.hpp"
#include "support/catch.hpp"
#include "support/watchdog.hpp"

namespace {

using namespace std::chrono_literals;

/// Counts the bodies that run at once.
class crowd {
 public:
  void work(std::chrono::microseconds time) {
    int const now = inside_.fetch_add(1) + 1;
    int most = most_.load();
    while (now > most && !most_.compare_exchange_weak(most, now)) {
    }
    auto const end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
    }
    inside_.fetch_sub(1);
    count_.fetch_add(1);
  }
  int most() const { return most_.load(); }
  int count() const { return count_.load(); }

 private:
  std::atomic<int> inside_{0}, most_{0}, count_{0};
};

template <class Policy>
using executors = std::vector<std::unique_ptr<heist::executor<Policy>>>;

template <class Policy>
executors<Policy> share(heist::thread_limit& limit, std::vector<std::size_t> const& workers) {
  executors<Policy> all;
  for (std::size_t const n : workers)
    all.push_back(std::make_unique<heist::executor<Policy>>(heist::options{.workers = n, .limit = &limit}));
  return all;
}

template <class Policy>
void all_kinds(int most) {
  heist::thread_limit limit{static_cast<std::size_t>(most)};
  CHECK(limit.max() == static_cast<std::size_t>(most));
  crowd inside;
  auto all = share<Policy>(limit, {2, 3, 1});
  std::vector<heist::task_graph> graphs(all.size());
  for (std::size_t e = 0; e != all.size(); ++e) {
    for (int i = 0; i != 20; ++i) {
      auto a = graphs[e].emplace([&] { inside.work(50us); });
      auto b = graphs[e].emplace([&] { inside.work(50us); });
      a.precede(b);
    }
  }
  for (int round = 0; round != 3; ++round) {
    std::vector<heist::graph_run> runs;
    std::vector<heist::future<void>> futures;
    for (std::size_t e = 0; e != all.size(); ++e) {
      runs.push_back(all[e]->run(graphs[e]));
      for (int i = 0; i != 20; ++i) all[e]->post([&] { inside.work(50us); });
      futures.push_back(all[e]->submit([&](heist::context c) {
        c.fork_join([&] { inside.work(50us); },
                    [&](heist::context d) { heist::for_each_index(d, 0, 20, [&](int) { inside.work(20us); }); });
      }));
    }
    for (auto& r : runs) r.get();
    for (auto& f : futures) f.get();
    for (auto& e : all) e->wait_idle();
  }
  CHECK(inside.most() <= most);
  CHECK(inside.count() == 3 * 3 * (40 + 20 + 21));
}

}  // namespace

TEST_CASE("thread_limit: no more workers work at once", "[thread_limit]") {
  for (int const most : {1, 2, 4}) {
    all_kinds<heist::policy::random>(most);
    all_kinds<heist::policy::with_order<heist::policy::random, heist::order::child_first>>(most);
  }
}

TEST_CASE("thread_limit: idle policies", "[thread_limit]") {
  namespace p = heist::policy;
  all_kinds<p::with_idle<p::random, heist::idle::spinning>>(1);
  all_kinds<p::with_idle<p::random, heist::idle::adaptive>>(1);
  all_kinds<p::with_idle<p::random, heist::idle::bws>>(2);
}

TEST_CASE("thread_limit: an executor that never rests does not starve others", "[thread_limit]") {
  heist::thread_limit limit{1};
  auto all = share<heist::policy::random>(limit, {2, 2});
  std::atomic<bool> stop{false};
  std::atomic<int> turns{0};
  heist_test::watchdog const guard{"another executor's tasks", std::chrono::seconds{20}};
  SECTION("tasks that submit tasks") {
    struct again {
      static void post(heist::executor<>& ex, std::atomic<bool>& stop, std::atomic<int>& turns) {
        ex.post([&] {
          turns.fetch_add(1);
          if (!stop) post(ex, stop, turns);
        });
      }
    };
    for (int i = 0; i != 4; ++i) again::post(*all[0], stop, turns);
    while (turns == 0) std::this_thread::yield();
    for (int i = 0; i != 20; ++i) CHECK(all[1]->submit([i] { return i; }).get() == i);
    stop = true;
  }
  SECTION("a task that forks") {
    auto forks = all[0]->submit([&](heist::context c) {
      while (!stop) c.fork_join([&] { turns.fetch_add(1); }, [&] { turns.fetch_add(1); });
    });
    while (turns == 0) std::this_thread::yield();
    for (int i = 0; i != 20; ++i) CHECK(all[1]->submit([i] { return i; }).get() == i);
    stop = true;
    forks.get();
  }
  SECTION("a loop") {
    auto loops = all[0]->submit([&](heist::context c) {
      while (!stop) heist::for_each_index(c, 0, 100, [&](int) { turns.fetch_add(1); });
    });
    while (turns == 0) std::this_thread::yield();
    for (int i = 0; i != 20; ++i) CHECK(all[1]->submit([i] { return i; }).get() == i);
    stop = true;
    loops.get();
  }
  for (auto& e : all) e->wait_idle();
}

TEST_CASE("thread_limit: an executor whose workers only search does not starve others", "[thread_limit]") {
  heist::thread_limit limit{2};
  heist::executor<heist::policy::with_idle<heist::policy::random, heist::idle::spinning>> searches{
      heist::options{.workers = 2, .limit = &limit}};
  heist::executor works{heist::options{.workers = 2, .limit = &limit}};
  heist_test::watchdog const guard{"a second worker", std::chrono::seconds{20}};
  for (int i = 0; i != 3; ++i) {
    std::atomic<bool> begun{false}, second{false};
    auto first = works.submit([&] {
      begun = true;
      while (!second) std::this_thread::yield();
    });
    while (!begun) std::this_thread::yield();
    works.submit([&] { second = true; }).get();
    first.get();
  }
}

TEST_CASE("thread_limit: waits across executors", "[thread_limit]") {
  // Each waits for a task of the other, deep in a chain, with one permit in all.
  heist::thread_limit limit{1};
  auto all = share<heist::policy::random>(limit, {1, 1});
  heist_test::watchdog const guard{"a chain of waits", std::chrono::seconds{20}};
  struct ping {
    static int go(executors<heist::policy::random>& of, int left) {
      if (left == 0) return 0;
      auto f = of[static_cast<std::size_t>(left % 2)]->submit([&of, left] { return go(of, left - 1); });
      return f.get() + 1;
    }
  };
  CHECK(all[0]->submit([&] { return ping::go(all, 50); }).get() == 50);
}

TEST_CASE("thread_limit: the end of an executor beside a busy one", "[thread_limit]") {
  heist::thread_limit limit{1};
  heist::executor busy{heist::options{.workers = 1, .limit = &limit}};
  std::atomic<bool> stop{false};
  std::atomic<bool> runs{false};
  busy.post([&] {
    runs = true;
    while (!stop) std::this_thread::yield();
  });
  while (!runs) std::this_thread::yield();
  heist_test::watchdog const guard{"the end of executors without a permit", std::chrono::seconds{20}};
  for (int i = 0; i != 10; ++i) {  // no permit comes meanwhile
    heist::executor other{heist::options{.workers = 3, .limit = &limit}};
  }
  stop = true;
  busy.wait_idle();
}

TEST_CASE("thread_limit: blocking calls and helpers", "[thread_limit]") {
  heist::thread_limit limit{1};
  auto all = share<heist::policy::random>(limit, {2, 1});
  std::atomic<bool> goes_on{false};
  auto blocked = all[0]->submit([&](heist::context c) {
    c.blocking([&] {
      while (!goes_on) std::this_thread::sleep_for(1ms);
    });
  });
  CHECK(all[1]->submit([] { return 1; }).get() == 1);  // a call that blocks needs no permit
  goes_on = true;
  blocked.get();
  crowd inside;
  std::array<std::thread, 3> threads;
  for (std::size_t i = 0; i != threads.size(); ++i) {
    threads[i] = std::thread{[&, i] {
      for (int k = 0; k != 50; ++k) {
        all[i % 2]->run_here([&](heist::context c) {
          inside.work(10us);
          c.fork_join([&] { inside.work(10us); }, [&] { inside.work(10us); });
        });
      }
    }};
  }
  for (auto& t : threads) t.join();
  CHECK(inside.most() <= 1);
  CHECK(inside.count() == 3 * 50 * 3);
}

TEST_CASE("thread_limit: changed while executors work", "[thread_limit]") {
  heist::thread_limit limit{4};
  auto all = share<heist::policy::random>(limit, {2, 2});
  std::atomic<bool> stop{false};
  std::atomic<int> count{0};
  std::thread changes{[&] {
    for (std::size_t i = 0; !stop; ++i) {
      limit.set_max(i % 4);
      std::this_thread::sleep_for(200us);
    }
  }};
  for (int round = 0; round != 20; ++round) {
    for (auto& e : all) {
      for (int i = 0; i != 50; ++i) e->post([&] { count.fetch_add(1); });
    }
    for (auto& e : all) e->wait_idle();
  }
  stop = true;
  changes.join();
  CHECK(count == 20 * 2 * 50);
  limit.set_max(0);
  CHECK(limit.max() == 1);
  heist_test::watchdog const guard{"a smaller limit takes effect", std::chrono::seconds{20}};
  for (int most = 0; most != 1;) {  // soon, when the tasks that run have ended
    crowd inside;
    for (auto& e : all) {
      for (int i = 0; i != 20; ++i) e->post([&] { inside.work(50us); });
    }
    for (auto& e : all) e->wait_idle();
    most = inside.most();
  }
}

TEST_CASE("thread_limit: joins that keep their worker are refused", "[thread_limit]") {
  heist::thread_limit limit{1};
  using keeps = heist::policy::with_join<heist::policy::random, heist::join::leapfrog>;
  CHECK_THROWS_AS((heist::executor<keeps>{heist::options{.workers = 1, .limit = &limit}}), heist::executor_error);
}
