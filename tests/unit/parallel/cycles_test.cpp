// Tasks that wait for each other in a cycle: heist refuses one of the waits, and no other.
#include <unistd.h>  // _exit

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "faults/child_process.hpp"
#include "heist/async.hpp"
#include "heist/coroutine.hpp"
#include "heist/flow.hpp"
#include "heist/fork_join.hpp"
#include "heist/graph.hpp"
#include "support/catch.hpp"
#include "support/slow.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;

namespace {

using handle = heist::shared_future<int>;

/// How a task waits for another one. A child that is stolen is not seen to wait for its parent's end: only where there
/// are no circles.
enum class way {
  asks,
  asks_one_after,
  asks_all,
  asks_then_of_then,
  runs_graph,
  runs_nested_graph,
#if HEIST_COROUTINES
  awaits,
  awaits_remote,
  awaits_run,
#endif
  forks
};
constexpr std::size_t ways_of_cycles = static_cast<std::size_t>(way::forks), all_ways = ways_of_cycles + 1;

#if HEIST_COROUTINES
heist::coroutine<int> awaits(handle other) {
  co_return co_await other;
}
heist::coroutine<int> awaits_twice(heist::executor<>& ex, handle other) {
  co_await heist::resume_on(ex);
  co_await ex.submit([] {});
  co_return co_await awaits(other);
}
heist::coroutine<void> awaits_run(heist::executor<>& ex, heist::task_graph& g) {
  co_await ex.run(g);
}
#endif

/// Tasks by number, of which each waits for others, one after the other; they begin when all of them are there.
class cycle {
 public:
  struct edge {
    std::size_t to;
    way how;
  };
  /// Each on one of the executors.
  cycle(std::vector<heist::executor<>*> on, std::vector<std::vector<edge>> edges)
      : on_{std::move(on)}, edges_{std::move(edges)}, tasks_(edges_.size()) {}

  /// Returns how many waits were refused.
  int run() {
    for (std::size_t i = 0; i != tasks_.size(); ++i) {
      tasks_[i] = executor_of(i).submit([this, i](heist::context ctx) { return body(ctx, i); }).share();
    }
    there_ = true;
    // All futures are there to be asked, whatever was refused.
    for (handle& t : tasks_) CHECK(t.get() == 1);
    for (auto* const ex : on_) ex->wait_idle();
    return rejected_;
  }

 private:
  heist::executor<>& executor_of(std::size_t i) { return *on_[i % on_.size()]; }

  int body(heist::context ctx, std::size_t i) {
    while (!there_) std::this_thread::yield();
    for (edge const& e : edges_[i]) wait(ctx, executor_of(i), tasks_[e.to], e.how);
    return 1;
  }

  template <class Asked>
  void ask(Asked& f) {
    if (!gets_through([&] { static_cast<void>(f.get()); }) && !f.valid()) rejected_ = -1000;  // Catch is for one thread
  }
  template <class Wait>
  bool gets_through(Wait waits) {
    try {
      waits();
      return true;
    } catch (heist::executor_error const& e) {
      ++rejected_;
      if (std::string{e.what()}.find("would ever end; fix it by") == std::string::npos) rejected_ = -1000;
      return false;
    }
  }

  void wait(heist::context ctx, heist::executor<>& ex, handle const& other, way how) {
    switch (how) {
      case way::asks:
        return ask(other);
      case way::asks_one_after: {
        auto f = ex.submit(heist::after(other), [](int) {});
        return ask(f);
      }
      case way::asks_all: {
        auto f = heist::when_all(ex.submit([] {}), other);
        return ask(f);
      }
      case way::asks_then_of_then: {
        auto f = other.then([](int) { return 2; }).then([](int) { return 3; }).then([](int) {});
        return ask(f);
      }
      case way::runs_graph: {
        heist::task_graph& g = keep_graph();
        auto first = g.emplace([] {});
        first.precede(g.emplace([&] { ask(other); }));
        auto run = ex.run(g);
        return ask(run);
      }
      case way::runs_nested_graph: {
        heist::task_graph& inner = keep_graph();
        heist::task_graph& outer = keep_graph();
        inner.emplace([&] { ask(other); });
        outer.compose(inner);
        auto run = ex.run(outer);
        return ask(run);
      }
#if HEIST_COROUTINES
      case way::awaits:
        gets_through([&] { heist::sync_wait(awaits(other)); });
        return;
      case way::awaits_remote:
        gets_through([&] { heist::sync_wait(awaits_twice(ex, other)); });
        return;
      case way::awaits_run: {
        heist::task_graph& g = keep_graph();
        g.emplace([&] { ask(other); });
        gets_through([&] { heist::sync_wait(awaits_run(ex, g)); });
        return;
      }
#endif
      case way::forks:
        ctx.fork_join([&] { ask(other); }, [&] { ask(other); });
    }
  }

  /// Its destructor would wait for the run, and cannot be refused.
  heist::task_graph& keep_graph() {
    std::lock_guard const lock{mutex_};
    return graphs_.emplace_back();
  }

  std::vector<heist::executor<>*> on_;
  std::vector<std::vector<edge>> edges_;
  std::vector<handle> tasks_;
  std::atomic<bool> there_{false};
  std::atomic<int> rejected_{0};
  std::mutex mutex_;  // guards graphs_
  std::list<heist::task_graph> graphs_;
};

class numbers {
 public:
  explicit numbers(std::uint64_t seed) : state_{seed * 0x9E3779B97F4A7C15u + 1} {}
  std::size_t operator()(std::size_t n) {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return static_cast<std::size_t>(state_ % n);
  }

 private:
  std::uint64_t state_;
};

using edges = std::vector<std::vector<cycle::edge>>;

bool has_cycle(edges const& all) {
  std::vector<int> seen(all.size(), 0);
  auto const visit = [&](auto const& self, std::size_t i) -> bool {
    if (seen[i] != 0) return seen[i] == 1;
    seen[i] = 1;
    for (cycle::edge const& e : all[i]) {
      if (self(self, e.to)) return true;
    }
    seen[i] = 2;
    return false;
  };
  for (std::size_t i = 0; i != all.size(); ++i) {
    if (visit(visit, i)) return true;
  }
  return false;
}

constexpr std::uint64_t seeds = heist_test::slow ? 100 : 1000;

}  // namespace

TEST_CASE("a circle of tasks that wait for each other: one wait is refused", "[dynamic][bad input]") {
  for (std::size_t const workers : {1u, 2u, 4u}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{ex, 60s};
    std::size_t wrong = 0;
    for (std::uint64_t seed = 0; seed != seeds; ++seed) {
      numbers random{seed};
      // A task that asks for its own future is refused with another sentence (ends_test.cpp).
      std::size_t const n = 1 + seed % 6;
      edges ring(n);
      for (std::size_t i = 0; i != n; ++i) {
        std::size_t const how = n == 1 ? 1 + random(ways_of_cycles - 1) : random(ways_of_cycles);
        ring[i] = {{(i + 1) % n, static_cast<way>(how)}};
      }
      wrong += cycle{{&ex}, ring}.run() != 1;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("a circle of tasks on several executors is refused", "[dynamic][bad input]") {
  heist::executor one{1}, two{2};
  heist_test::watchdog guard{one, 60s};
  guard.watch(two);
  std::size_t wrong = 0;
  for (std::uint64_t seed = 0; seed != seeds; ++seed) {
    numbers random{seed};
    std::size_t const n = 2 + seed % 5;
    edges ring(n);
    for (std::size_t i = 0; i != n; ++i) ring[i] = {{(i + 1) % n, static_cast<way>(random(ways_of_cycles))}};
    wrong += cycle{{&one, &two}, ring}.run() != 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a large circle of tasks is refused", "[dynamic][bad input]") {
  heist::executor ex{2};
  heist_test::watchdog guard{ex, 60s};
  edges ring(300);
  for (std::size_t i = 0; i != ring.size(); ++i) ring[i] = {{(i + 1) % ring.size(), way::asks}};
  CHECK(cycle{{&ex}, ring}.run() == 1);
}

TEST_CASE("random programs of waits: refused where there are circles, and only there", "[dynamic][bad input]") {
  for (std::size_t const workers : {1u, 2u, 3u}) {
    heist::executor ex{workers};
    heist_test::watchdog guard{ex, 120s};
    std::size_t silent = 0, wrong = 0, with_cycle = 0;
    for (std::uint64_t seed = 0; seed != seeds; ++seed) {
      numbers random{seed + 1000 * workers};
      bool const acyclic = seed % 2 == 0;
      edges all(2 + random(10));
      for (std::size_t i = 0; i != all.size(); ++i) {
        for (std::size_t k = random(4); k != 0 && (!acyclic || i != 0); --k) {
          std::size_t const to = acyclic ? random(i) : (i + 1 + random(all.size() - 1)) % all.size();
          all[i].push_back({to, static_cast<way>(random(acyclic ? all_ways : ways_of_cycles))});
        }
      }
      // Numbers are not the order in which they begin.
      if (acyclic && random(2) == 0) {
        std::size_t const last = all.size() - 1;
        edges turned(all.size());
        for (std::size_t i = 0; i != all.size(); ++i) {
          for (cycle::edge const& e : all[i]) turned[last - i].push_back({last - e.to, e.how});
        }
        all = std::move(turned);
      }
      bool const expected = has_cycle(all);
      with_cycle += expected;
      int const rejected = cycle{{&ex}, all}.run();
      silent += expected && rejected == 0;
      wrong += !expected && rejected != 0;
    }
    CHECK(silent == 0);
    CHECK(wrong == 0);
    CHECK(with_cycle > seeds / 4);
  }
}

TEST_CASE("state_text: names a circle that is closed by a wait which cannot be refused", "[dynamic][bad input]") {
  auto const report = heist_test::run_child(
      [] {
        heist::executor io{1}, ex{1};
        heist::flow f{ex};
        heist::datum<int> x{f, 0};
        std::atomic<bool> there{false};
        heist::shared_future<void> outer;
        outer = ex.submit([&] {
                    while (!there) std::this_thread::yield();
                    f.task([&](int&) { outer.wait(); }, heist::update(x));
                    // One worker: if this runs and the other is said to wait, it stands in line.
                    while (ex.state_text().find("waits for a future") == std::string::npos) io.submit([] {}).wait();
                    f.wait();
                  }).share();
        there = true;
        std::string text;
        while ((text = ex.state_text()).find("in a circle") == std::string::npos) std::this_thread::sleep_for(1ms);
        std::fputs(text.c_str(), stdout);
        std::fflush(stdout);
        ::_exit(0);  // it hangs for ever
      },
      60s);
  INFO(report.text());
  CHECK(report.clean());
  std::string const cycle = "2 tasks wait for each other in a circle, and none of them will ever end: ";
  std::string const one = "async waits for a future", other = "async waits for a task of a flow";
  CHECK((report.says((cycle + one + "; " + other).c_str()) || report.says((cycle + other + "; " + one).c_str())));
}
