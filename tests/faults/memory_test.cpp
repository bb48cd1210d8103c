// operator new fails, at any call: no wait hangs, no resource leaks, and accepted tasks run.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "faults/child_process.hpp"
#include "faults/failing_new.hpp"
#include "heist/algorithm.hpp"
#include "heist/async.hpp"
#include "heist/core/base/large_memory.hpp"
#include "heist/core/sync/ready_list.hpp"
#include "heist/core/sync/work_deque.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/graph.hpp"
#include "support/catch.hpp"
#include "support/wait_for.hpp"

using namespace std::chrono_literals;
using heist_test::run_child;

TEST_CASE("memory: a deque that cannot grow refuses the item and keeps the others", "[faults]") {
  std::vector<int> v(5);
  heist::detail::work_deque<int*> d{4};
  for (std::size_t i = 0; i < 4; ++i) REQUIRE(d.push(&v[i]));
  for (long n = 0; n < 2; ++n) {  // the ring, then its slots
    bool pushed = true;
    {
      new_fault const f{n};
      pushed = d.push(&v[4]);
    }
    CHECK_FALSE(pushed);
    CHECK(d.capacity() == 4);
  }
  CHECK(d.push(&v[4]));
  for (std::size_t i = 0; i < 5; ++i) REQUIRE(d.steal().item == &v[i]);
}

TEST_CASE("memory: a ready list that cannot grow refuses the task and keeps the others", "[faults]") {
  std::vector<int> v(65);
  heist::detail::ready_list<int> list;
  {
    new_fault const f{0};
    CHECK_FALSE(list.push(0, v[0]));
  }
  for (std::size_t i = 0; i < 64; ++i) REQUIRE(list.push(i, v[i]));
  {
    new_fault const f{0};
    CHECK_FALSE(list.push(64, v[64]));
  }
  CHECK(list.push(64, v[64]));
  for (std::size_t i = 0; i < 65; ++i) REQUIRE(&list.take() == &v[i]);
}

TEST_CASE("memory: large blocks that are kept are given back before memory is out", "[faults]") {
  using heist::detail::large_memory;
  for (std::size_t const bytes : {std::size_t{5000}, large_memory::huge_page}) {
    for (long failing = 0; failing != 3; ++failing) {
      large_memory::clear();
      large_memory::free(large_memory::allocate(9000), 9000);
      void* block = nullptr;
      bool thrown = false;
      long const before = live_allocations;  // one block is kept
      try {
        new_fault const f{0, failing};
        block = large_memory::allocate(bytes);
      } catch (std::bad_alloc const&) {
        thrown = true;
      }
      CHECK(thrown == (failing == 2));
      CHECK(large_memory::has_any() == (failing == 0));
      CHECK(live_allocations == before + (failing == 0 ? 1 : 0) - (failing == 2 ? 1 : 0));
      if (block != nullptr) large_memory::free(block, bytes);
    }
  }
  large_memory::clear();
}

TEST_CASE("memory: algorithms that take memory leave none when an allocation fails", "[faults]") {
  using heist::detail::large_memory;
  heist::executor ex{2};
  std::vector<int> v(20'000);
  auto const all = [&] {
    for (std::size_t i = 0; i != v.size(); ++i) v[i] = static_cast<int>(i * 7919 % v.size());
    heist::remove_if(ex, v, [](int x) { return x % 3 == 0; });
    heist::stable_sort(ex, v);
  };
  all();  // the executor has its stacks and blocks
  bool failed = true;
  for (long n = 0; failed; ++n) {
    large_memory::clear();
    long const before = live_allocations;
    for (int again = 0; again != 8; ++again) {
      failed = false;
      new_fault const f{n};
      try {
        all();
      } catch (std::bad_alloc const&) {
        failed = true;
      }
    }
    ex.wait_idle();
    large_memory::clear();
    CHECK(live_allocations < before + 8);  // the executor may keep some more blocks
    REQUIRE(n < 1000);
  }
}

TEST_CASE("memory: a graph with priorities runs where ready lists cannot grow", "[faults]") {
  for (std::size_t const workers : {1, 3}) {
    heist::executor ex{workers};
    heist::task_graph g;
    std::atomic<int> ran{0};
    auto root = g.emplace([] {});
    for (int i = 0; i < 500; ++i) {
      auto t = g.emplace([&ran] { ++ran; });
      t.priority(heist::priority(i % 9));
      root.precede(t);
    }
    auto first = g.emplace([] {});
    first.precede(root);
    ex.run_n(g, 0).get();  // laid out
    for (long n = 0; n < 3; ++n) {
      ran = 0;
      new_fault const f{n, 1000};
      auto run = ex.run(g);
      run.get();
      CHECK(ran == 500);
    }
  }
}

TEST_CASE("memory: the n-th allocation fails while an executor is made, for every n", "[faults]") {
  auto const report = run_child([] {
    long n = 0;
    for (;; ++n) {
      bool made = false;
      {
        new_fault const f{n};
        try {
          heist::executor ex{std::size_t{3}};
          made = true;
        } catch (std::bad_alloc const&) {
        } catch (heist::error const&) {
        }
      }
      if (failed_allocations() == 0) break;
      CHILD_REQUIRE(!made);
    }
    std::printf("making an executor: %ld places\n", n);
    CHILD_REQUIRE(n > 5);
    heist::executor ex{std::size_t{3}};
    CHILD_REQUIRE(ex.invoke([] { return 1; }) == 1);
  });
  INFO(report.text());
  CHECK(report.clean());
  std::printf("%s", report.output.c_str());
}

TEST_CASE("memory: the n-th allocation fails while tasks are submitted, for every n", "[faults]") {
  for (std::size_t const workers : {1u, 2u}) {
    for (long const in_a_row : {1L, 20L}) {
      auto const report = run_child([=] {
        long n = 0;
        for (;; ++n) {
          heist::executor ex{workers};
          std::atomic<int> ran{0};
          int accepted = 0, rejected = 0;
          std::vector<heist::future<int>> futures;
          futures.reserve(10);
          {
            new_fault const f{n, in_a_row};
            for (int i = 0; i < 10; ++i) {
              try {
                ex.post([&ran] { ++ran; });
                ++accepted;
              } catch (std::bad_alloc const&) {
                ++rejected;
              }
              try {
                futures.push_back(ex.submit([&ran] { return ++ran; }));
                ++accepted;
              } catch (std::bad_alloc const&) {
                ++rejected;
              }
            }
            for (auto& f : futures) CHILD_REQUIRE(f.get() > 0);
            ex.wait_idle();
          }
          CHILD_REQUIRE(ran == accepted);
          CHILD_REQUIRE(accepted + rejected == 20);
          if (failed_allocations() == 0) break;
        }
        CHILD_REQUIRE(n >= 20);
        std::printf("submitting: %ld places\n", n);
      });
      INFO(workers << " workers, " << in_a_row << " in a row: " << report.text());
      CHECK(report.clean());
      std::printf("%s", report.output.c_str());
    }
  }
}

TEST_CASE("memory: the n-th allocation fails while tasks submit, fork and wait, for every n", "[faults]") {
  for (std::size_t const workers : {1u, 2u}) {
    for (long const in_a_row : {1L, 3L, 50L}) {
      auto const report = run_child([=] {
        long n = 0;
        for (;; n += n < 60 ? 1 : 7) {
          heist::executor ex{workers};
          std::atomic<int> ran{0}, rejected{0};
          // Each leaf either runs or its submission throws bad_alloc in the task that tried.
          std::function<void(int)> tree = [&](int left) {
            if (left == 0) {
              ++ran;
              return;
            }
            heist::future<void> a, b;
            auto const try_to = [&](heist::future<void>& f) {
              try {
                f = ex.submit([&tree, left] { tree(left - 1); });
              } catch (std::bad_alloc const&) {
                rejected += 1 << (left - 1);
              }
            };
            try_to(a);
            try_to(b);
            for (auto* f : {&a, &b}) {
              try {
                if (f->valid()) f->get();
              } catch (std::bad_alloc const&) {  // no memory to wait with: the task runs all the same
              }
            }
          };
          int forked = 0;
          {
            new_fault const f{n, in_a_row};
            try {
              ex.invoke(
                  [&](heist::context ctx) { ctx.fork_join([&] { tree(4); }, [&] { tree(4); }, [&] { ++forked; }); });
            } catch (std::bad_alloc const&) {
              rejected += 32;
              ++forked;
            }
            try {
              ex.wait_idle();
            } catch (std::bad_alloc const&) {  // of tasks whose futures were dropped
            }
          }
          CHILD_REQUIRE(ran + rejected == 32);
          CHILD_REQUIRE(forked == 1);
          if (failed_allocations() == 0) break;
        }
        std::printf("submitting, forking, waiting: %ld places\n", n);
      });
      INFO(workers << " workers, " << in_a_row << " in a row: " << report.text());
      CHECK(report.clean());
      std::printf("%s", report.output.c_str());
    }
  }
}

TEST_CASE("memory: the n-th allocation fails while a task waits that might close a circle, for every n", "[faults]") {
  auto const report = run_child([] {
    long has_waited = 0, rejected = 0;
    for (long n = 0;; ++n) {
      heist::executor ex{2};
      std::atomic<bool> linked{false}, at_wait{false}, go{false};
      auto const first = ex.submit([&] {
                             while (!go) std::this_thread::yield();
                             return 1;
                           }).share();
      auto const second = ex.submit(heist::after(first), [](int x) { return x + 1; }).share();
      auto const waits = ex.submit([&] {
                             while (!linked) std::this_thread::yield();
                             at_wait = true;
                             return second.get() + 1;
                           }).share();
      auto last = ex.submit(heist::after(waits), [](int x) { return x + 1; });
      bool none_failed = false;
      {
        new_fault const f{n};
        linked = true;
        while (!at_wait) std::this_thread::yield();
        std::this_thread::sleep_for(1ms);
        go = true;
        second.wait();
        waits.wait();
        none_failed = failed_allocations() == 0;
      }
      try {
        CHILD_REQUIRE(last.get() == 4);
        ++has_waited;
      } catch (std::bad_alloc const&) {
        ++rejected;
      }
      if (none_failed) break;
    }
    CHILD_REQUIRE(has_waited > 0);
    std::printf("waits that look for a circle: %ld without memory, %ld of them refused\n", has_waited + rejected - 1,
                rejected);
  });
  INFO(report.text());
  CHECK(report.clean());
  std::printf("%s", report.output.c_str());
}

TEST_CASE("memory: a full deque that cannot grow loses no task", "[faults]") {
  for (std::size_t const workers : {1u, 2u}) {
    auto const report = run_child(
        [=] {
          heist::executor ex{workers};
          std::atomic<int> ran{0};
          ex.invoke([&] {
            struct task {
              std::atomic<int>& ran;
              void operator()() const { ++ran; }
            };
            // The tasks' own memory can be had, rings cannot: an allocation of a ring is larger than any task.
            for (int i = 0; i < 1024; ++i) ex.post(task{ran});
            for (int i = 0; i < 1024; ++i) {
              new_fault const f{1, forever};
              ex.post(task{ran});
            }
          });
          ex.wait_idle();
          CHILD_REQUIRE(ran == 2048);
        },
        5s);
    INFO(workers << " workers: " << report.text());
    CHECK(report.clean());
  }
}

TEST_CASE("memory: with a full deque, a task that lets a parked one go on goes on itself", "[faults]") {
  auto const report = run_child(
      [] {
        heist::executor ex{std::size_t{1}};
        heist::detail::completion c;
        std::atomic<int> ran{0};
        std::atomic<bool> parked{false}, notified{false}, went_on{false};
        ex.post([&] {
          parked = true;
          heist_test::wait_for(c);
          notified = true;
        });
        while (!parked) std::this_thread::sleep_for(1ms);
        ex.post([&] {
          for (int i = 0; i < 1024; ++i) ex.post([&] { ++ran; });
          {
            new_fault const f{0, forever};
            c.complete();
          }
          let_allocations_succeed();
          went_on = true;
        });
        ex.wait_idle();
        CHILD_REQUIRE(ran == 1024);
        CHILD_REQUIRE(notified);
        CHILD_REQUIRE(went_on);
      },
      5s);
  INFO(report.text());
  CHECK(report.clean());
}

TEST_CASE("memory: with a full deque, nothing that came from outside is lost", "[faults]") {
  auto const report = run_child(
      [] {
        heist::executor ex{std::size_t{1}};
        heist::detail::completion c;
        std::atomic<int> ran{0};
        std::atomic<bool> parked{false}, filled{false}, outside_done{false}, notified{false};
        std::optional<new_fault> none_left;
        ex.post([&] {
          parked = true;
          heist_test::wait_for(c);
          notified = true;
        });
        while (!parked) std::this_thread::sleep_for(1ms);
        ex.post([&] {
          for (int i = 0; i < 1024; ++i) ex.post([&] { ++ran; });
          filled = true;
          while (!outside_done) std::this_thread::sleep_for(1ms);
          none_left.emplace(0, forever);
        });
        while (!filled) std::this_thread::sleep_for(1ms);
        for (int i = 0; i < 300; ++i) ex.post([&] { ++ran; });
        c.complete();  // the parked task stands in the middle of the queue
        for (int i = 0; i < 300; ++i) ex.post([&] { ++ran; });
        outside_done = true;
        ex.wait_idle();
        let_allocations_succeed();
        CHILD_REQUIRE(notified);
        CHILD_REQUIRE(ran == 1624);
      },
      5s);
  INFO(report.text());
  CHECK(report.clean());
}

TEST_CASE("memory: the n-th allocation fails while a graph is built and run, for every n", "[faults]") {
  for (std::size_t const workers : {1u, 2u}) {
    auto const report = run_child([=] {
      heist::executor ex{workers};
      long n = 0;
      for (;; ++n) {
        std::atomic<int> ran{0};
        {
          heist::task_graph g;
          std::size_t built = 0;
          bool complete = false;
          new_fault const f{n};
          try {
            auto a = g.emplace([&] { ++ran; });
            ++built;
            auto b = g.emplace([&] { ++ran; });
            ++built;
            auto c = g.emplace([&, big = std::vector<int>(100, 1)] { ran += big[0]; });
            ++built;
            auto d = g.emplace([&] { ++ran; });
            ++built;
            complete = true;
            a.precede(b, c);
            d.succeed(b, c);
            ex.run(g).get();
            CHILD_REQUIRE(ran == 4);
            ex.run_n(g, 3).get();
            CHILD_REQUIRE(ran == 16);
          } catch (std::bad_alloc const&) {
          }
          let_allocations_succeed();
          CHILD_REQUIRE(g.size() == built);  // an emplace that throws has added nothing
          // Whatever was refused, the graph runs now, each task once.
          ex.wait_idle();
          int const before = ran;
          ex.run(g).get();
          CHILD_REQUIRE(ran - before == static_cast<int>(built));
          CHILD_REQUIRE(!complete || built == 4);
        }
        ex.wait_idle();
        if (failed_allocations() == 0) break;
      }
      std::printf("building and running a graph: %ld places\n", n);
      CHILD_REQUIRE(n > 8);
    });
    INFO(workers << " workers: " << report.text());
    CHECK(report.clean());
    std::printf("%s", report.output.c_str());
  }
}

TEST_CASE("memory: a task comes with all of its edges or not at all, whichever allocation fails", "[faults]") {
  auto const report = run_child([] {
    heist::executor ex{1};
    for (int already = 0; already < 20; ++already) {
      for (long n = 0;; ++n) {
        int ran = 0;
        heist::task_graph g, inner;
        auto a = g.emplace([] { return 1; });
        inner.emplace([] {});
        for (int i = 0; i < already; ++i) g.emplace([](int) {}, a);
        if (already % 2 == 1) CHILD_REQUIRE(a.successor_count() == static_cast<std::size_t>(already));
        std::size_t tasks = g.size(), edges = g.edge_count();
        heist::task<> kept;
        {
          new_fault const f{n};
          try {
            auto b = g.emplace([&, big = std::array<int, 100>{}](int v) { return ran += v + big[0]; }, a);
            ++tasks, ++edges;
            g.emplace([](int, int) {}, a, b);
            ++tasks, edges += 2;
            kept = g.compose(inner);
            ++tasks;
            g.emplace([] {}, [] {}, [] {});
            tasks += 3;
          } catch (std::bad_alloc const&) {
          }
          let_allocations_succeed();
        }
        CHILD_REQUIRE(g.size() == tasks);
        CHILD_REQUIRE(g.edge_count() == edges);
        if (kept.valid()) g.erase(kept);
        ex.run(g).get();
        if (failed_allocations() == 0) break;
      }
    }
  });
  INFO(report.text());
  CHECK(report.clean());
}
