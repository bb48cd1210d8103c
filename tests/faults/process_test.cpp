// Events that end or split a process: fork(), exit(), static destruction, an executor destroyed by its own task.
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <latch>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "faults/child_process.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/graph.hpp"
#include "heist/thread_limit.hpp"
#include "support/catch.hpp"
#include "support/wait_for.hpp"
#include "support/watchdog.hpp"

using namespace std::chrono_literals;
using heist_test::child_report;
using heist_test::run_child;

namespace {

/// Made when first asked for and destroyed by exit().
heist::executor<>& static_executor() {
  static heist::executor ex{2};
  return ex;
}

heist::executor<>& thread_executor() {
  thread_local heist::executor<> ex{2};
  return ex;
}

std::optional<heist::executor<>> global;

int overflow(int depth);
int (*volatile deeper)(int) = &overflow;  // volatile, so that no compiler sees the recursion

int overflow(int depth) {
  char volatile frame[1024] = {};
  frame[0] = static_cast<char>(depth);
  return deeper(depth + 1) + frame[0];
}

int jump(int depth);
int (*volatile jump_again)(int) = &jump;

/// Frames of 48 KiB that are touched at their lower end only.
int jump(int depth) {
  char volatile frame[48 << 10];
  frame[0] = static_cast<char>(depth);
  return depth == 0 ? 0 : jump_again(depth - 1) + frame[0];
}

void throws() {
  throw 1;
}

bool leaks_are_ours = true;

}  // namespace

// Asked by LeakSanitizer at exit. A child of fork() has the memory of its parent's threads, but not the threads.
extern "C" int __lsan_is_turned_off() {
  return leaks_are_ours ? 0 : 1;
}

TEST_CASE("fork(): in the child every use of a live executor throws executor_error, and destroying it returns",
          "[faults]") {
  auto const report = run_child([] {
    auto ex = std::make_unique<heist::executor<>>(std::size_t{2});
    std::atomic<int> n{0};
    for (int i = 0; i < 100; ++i) ex->post([&] { ++n; });
    ex->wait_idle();
    auto const grandchild = run_child(
        [&] {
          int rejected = 0;
          auto const expect_error = [&](auto use) {
            try {
              use();
            } catch (heist::executor_error const& e) {
              rejected += std::string{e.what()}.find("fork()") != std::string::npos;
            }
          };
          expect_error([&] { ex->post([] {}); });
          expect_error([&] { ex->submit([] {}).get(); });
          expect_error([&] { ex->wait_idle(); });
          expect_error([&] { ex->invoke([] {}); });
          CHILD_REQUIRE(rejected == 4);
          CHILD_REQUIRE(!ex->state_text().empty());
          ex.reset();
        },
        5s);
    std::printf("grandchild: %s\n", grandchild.text().c_str());
    CHILD_REQUIRE(grandchild.clean());
    // The parent's executor is untouched.
    for (int i = 0; i < 100; ++i) ex->post([&] { ++n; });
    ex->wait_idle();
    CHILD_REQUIRE(n == 200);
  });
  INFO(report.text());
  CHECK(report.clean());
}

TEST_CASE("fork(): waiting in the child for a task of the parent's executor throws instead of hanging", "[faults]") {
  auto const report = run_child([] {
    heist::executor ex{2};
    std::atomic<bool> over{false};
    auto f = ex.submit([&] {
      while (!over) std::this_thread::sleep_for(1ms);
      return 1;
    });
    auto const grandchild = run_child(
        [&] {
          bool rejected = false;
          try {
            f.get();
          } catch (heist::executor_error const&) {
            rejected = true;
          }
          CHILD_REQUIRE(rejected);
        },
        3s);
    std::printf("grandchild: %s\n", grandchild.text().c_str());
    over = true;
    CHILD_REQUIRE(f.get() == 1);
    CHILD_REQUIRE(grandchild.clean());
  });
  INFO(report.text());
  CHECK(report.clean());
}

TEST_CASE("fork(): while tasks run, the child can exit, through static destructors too", "[faults]") {
  for (bool const with_static : {false, true}) {
    auto const report = run_child([with_static] {
      heist::executor local{2};
      heist::executor<>& ex = with_static ? static_executor() : local;
      static std::atomic<bool> over{false};  // read once more when this function has returned
      ex.post([] {
        while (!over) std::this_thread::sleep_for(1ms);
      });
      auto const grandchild = run_child(
          [&] {
            leaks_are_ours = false;
            std::exit(0);
          },
          5s);
      over = true;
      std::printf("grandchild: %s\n", grandchild.text().c_str());
      CHILD_REQUIRE(grandchild.clean());
    });
    INFO(report.text());
    CHECK(report.clean());
  }
}

TEST_CASE("fork(): the child can make an executor of its own", "[faults]") {
  if (heist::under_tsan) return heist_test::skipped("ThreadSanitizer starts no threads in a child of fork()");
  auto const report = run_child([] {
    heist::executor parents{2};
    parents.submit([] {}).get();
    // Clang 14's AddressSanitizer does not give the locks of its allocator to the child: no thread may hold one.
    while (heist::under_asan && parents.sleeping_workers() != 2) std::this_thread::yield();
    auto const grandchild = run_child(
        [&] {
          heist::executor own{2};
          std::atomic<int> n{0};
          for (int i = 0; i < 1000; ++i) own.post([&] { own.submit([&] { ++n; }).get(); });
          own.wait_idle();
          CHILD_REQUIRE(n == 1000);
        },
        10s);
    std::printf("grandchild: %s\n", grandchild.text().c_str());
    CHILD_REQUIRE(grandchild.clean());
  });
  INFO(report.text());
  CHECK(report.clean());
}

TEST_CASE("fork(): permits of the parent's workers are free in the child", "[faults]") {
  if (heist::under_tsan) return heist_test::skipped("ThreadSanitizer starts no threads in a child of fork()");
  auto const report = run_child([] {
    heist::thread_limit limit{1};
    std::atomic<bool> runs{false}, ends{false};
    heist::executor parents{heist::options{.workers = 2, .limit = &limit}};
    parents.post([&] {
      runs = true;
      while (!ends) std::this_thread::yield();
    });
    while (!runs) std::this_thread::yield();
    // As above: no thread may hold a lock of the allocator. The other worker waits, or has never seen that there is work.
    while (heist::under_asan && parents.sleeping_workers() == 0 &&
           parents.state_text().find("waits for a permit") == std::string::npos)
      std::this_thread::yield();
    auto const grandchild = run_child(
        [&] {
          heist::executor own{heist::options{.workers = 2, .limit = &limit}};
          CHILD_REQUIRE(own.submit([] { return 7; }).get() == 7);
        },
        10s);
    ends = true;
    std::printf("grandchild: %s\n", grandchild.text().c_str());
    CHILD_REQUIRE(grandchild.clean());
  });
  INFO(report.text());
  CHECK(report.clean());
}

TEST_CASE("fork(): a lock that a thread of the parent held counts as free in the child", "[faults]") {
  auto const report = run_child([] {
    heist::os_env::watch_forks();
    heist::detail::spin_lock<> lock;
    std::atomic<bool> held{false}, over{false};
    std::thread holder{[&] {
      heist::detail::spin_guard guard{lock};
      held = true;
      while (!over) std::this_thread::sleep_for(1ms);
    }};
    while (!held) std::this_thread::yield();
    CHILD_REQUIRE(!lock.try_lock());
    auto const grandchild = run_child(
        [&] {
          heist::detail::spin_guard guard{lock};
          CHILD_REQUIRE(!lock.try_lock());
          auto const its_child = run_child([&] { heist::detail::spin_guard again{lock}; }, 5s);
          CHILD_REQUIRE(its_child.clean());
          CHILD_REQUIRE(!lock.try_lock());
        },
        10s);
    std::printf("grandchild: %s\n", grandchild.text().c_str());
    CHILD_REQUIRE(!lock.try_lock());
    over = true;
    holder.join();
    CHILD_REQUIRE(lock.try_lock());
    CHILD_REQUIRE(grandchild.clean());
  });
  INFO(report.text());
  CHECK(report.clean());
}

TEST_CASE("fork(): while other threads build, run and post, the child can do so with what is its own", "[faults]") {
  if (heist::under_tsan) return heist_test::skipped("ThreadSanitizer starts no threads in a child of fork()");
  auto const report = run_child([] {
    std::atomic<bool> over{false};
    std::atomic<int> ran{0};  // posts that wait run in ex's destructor at the latest
    heist::task_graph graph;
    heist::executor ex{2};
    for (int i = 0; i < 100; ++i) graph.emplace([&] { ++ran; });
    std::thread runner{[&] {
      while (!over) ex.run(graph).get();
    }};
    std::thread poster{[&] {
      while (!over) ex.post([&] { ++ran; });
    }};
    for (int round = 0; round < 30; ++round) {
      auto const grandchild = run_child(
          [&] {
            auto const rejected = [](auto use) {
              try {
                use();
                return false;
              } catch (heist::executor_error const&) {
                return true;
              }
            };
            CHILD_REQUIRE(rejected([&] { static_cast<void>(ex.run(graph)); }));
            CHILD_REQUIRE(rejected([&] { ex.post([] {}); }));
          },
          5s);
      if (!grandchild.clean()) std::printf("grandchild: %s\n", grandchild.text().c_str());
      CHILD_REQUIRE(grandchild.clean());
    }
    over = true;
    runner.join();
    poster.join();
  });
  INFO(report.text());
  CHECK(report.clean());
}

TEST_CASE("fork(): inside a task, the child may exit", "[faults]") {
  auto const report = run_child([] {
    heist::executor ex{2};
    int const code = ex.invoke([] {
      ::pid_t const child = ::fork();
      if (child == 0) ::_exit(7);
      int status = 0;
      ::waitpid(child, &status, 0);
      return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    });
    CHILD_REQUIRE(code == 7);
  });
  INFO(report.text());
  CHECK(report.clean());
}

TEST_CASE("exit(): from a task, with an executor that lives on a stack", "[faults]") {
  auto const report = run_child([] {
    heist::executor ex{2};
    ex.post([] { std::exit(3); });
    for (;;) std::this_thread::sleep_for(1s);
  });
  INFO(report.text());
  CHECK_FALSE(report.timed_out);
  // ThreadSanitizer has its own exit code when threads are left.
  if (!heist::under_tsan) CHECK(report.exit_code == 3);
}

TEST_CASE("exit(): from a task of a static executor it ends the process, with a message if not with the code",
          "[faults]") {
  auto const report = run_child(
      [] {
        static_executor().post([] { std::exit(3); });
        for (;;) std::this_thread::sleep_for(1s);
      },
      5s);
  INFO(report.text());
  CHECK_FALSE(report.timed_out);
  CHECK((report.exit_code == 3 || report.says("destroyed by one of its own tasks")));
}

TEST_CASE("ends: what ends the process at once does so from a task, while others run", "[faults]") {
  struct row {
    char const* what;
    void (*end)();
    int exit_code, signal;
  };
  for (row const& r : {
           row{"_exit", [] { ::_exit(3); }, 3, 0},
           row{"quick_exit", [] { std::quick_exit(3); }, 3, 0},
           row{"exec", [] { ::execl("/bin/sh", "sh", "-c", "exit 3", nullptr); }, 3, 0},
           row{"abort", [] { std::abort(); }, 0, SIGABRT},
           row{"terminate", [] { std::terminate(); }, 0, SIGABRT},
           row{"throw where nothing may be thrown", []() noexcept { throws(); }, 0, SIGABRT},
           row{"SIGTERM", [] { std::raise(SIGTERM); }, 0, SIGTERM},
       }) {
    auto const report = run_child([&] {
      heist::executor<> ex{std::size_t{3}};
      std::atomic<bool> never{false};
      std::latch others{3};
      for (int i = 0; i != 2; ++i) {
        ex.post([&] {
          others.arrive_and_wait();
          while (!never) std::this_thread::yield();
        });
      }
      ex.post([&] {
        others.arrive_and_wait();
        r.end();
      });
      ex.wait_idle();
    });
    INFO(r.what << ": " << report.text());
    CHECK_FALSE(report.timed_out);
    CHECK(report.signal == r.signal);
    if (r.signal == 0 && !heist::under_tsan) CHECK(report.exit_code == r.exit_code);
  }
}

TEST_CASE("ends: a scope that is left, also by an exception, waits for what its executor has begun", "[faults]") {
  std::atomic<int> n{0};
  auto const begin = [&](heist::executor<>& ex) {
    for (int i = 0; i != 100; ++i) {
      ex.post([&](auto ctx) {
        std::this_thread::yield();
        ctx.submit([&n] { ++n; }).wait();
      });
    }
  };
  {
    heist::executor<> ex{std::size_t{2}};
    begin(ex);
  }
  CHECK(n == 100);
  CHECK_THROWS_WITH(
      [&] {
        heist::executor<> ex{std::size_t{2}};
        begin(ex);
        throw std::runtime_error{"left"};
      }(),
      "left");
  CHECK(n == 200);
  // A thread that has given work to an executor may end before it.
  heist::executor<> ex{std::size_t{2}};
  std::thread{[&] {
    begin(ex);
    ::pthread_exit(nullptr);
  }}.join();
  ex.wait_idle();
  CHECK(n == 300);
}

TEST_CASE("static: executors that live as long as the process drain at exit()", "[faults]") {
  auto const report = run_child([] {
    static std::atomic<int> n{0};
    std::atexit([] { std::printf("ran %d\n", n.load()); });  // registered first, so called after the destructors
    heist::executor<>& ex = static_executor();
    for (int i = 0; i < 1000; ++i) ex.post([] { ++n; });
    std::exit(0);
  });
  INFO(report.text());
  CHECK(report.clean());
  CHECK(report.says("ran 1000"));
}

TEST_CASE("static: thread_local executors are destroyed with their threads", "[faults]") {
  auto const report = run_child([] {
    std::atomic<int> n{0};
    for (int i = 0; i < 20; ++i) {
      std::thread{[&] {
        for (int k = 0; k < 10; ++k) thread_executor().post([&] { ++n; });
      }}.join();
    }
    CHILD_REQUIRE(n == 200);
    thread_executor().post([&] { ++n; });  // this one is destroyed by exit()
    std::exit(0);
  });
  INFO(report.text());
  CHECK(report.clean());
}

TEST_CASE("static: a global executor, emplaced and reset", "[faults]") {
  heist_test::watchdog guard{"global", 30s};
  for (int i = 0; i < 20; ++i) {
    global.emplace(std::size_t{2});
    std::atomic<int> n{0};
    for (int k = 0; k < 10; ++k) global->post([&] { ++n; });
    global.reset();
    REQUIRE(n == 10);
  }
}

TEST_CASE("misuse: an executor destroyed by its own task ends the program with a sentence", "[faults]") {
  auto const report = run_child(
      [] {
        auto* const ex = new heist::executor<>{std::size_t{2}};
        ex->post([ex] { delete ex; });
        for (;;) std::this_thread::sleep_for(1s);
      },
      5s);
  INFO(report.text());
  CHECK_FALSE(report.timed_out);
  CHECK(report.signal == SIGABRT);
  CHECK(report.says("destroyed by one of its own tasks"));
}

TEST_CASE("misuse: a post or a run from a thread_local destructor of a worker is refused", "[faults]") {
  auto const report = run_child([] {
    static heist::executor<>* scheduler = nullptr;
    static heist::task_graph* graph = nullptr;
    static std::atomic<int> rejected{0}, ran{0}, destroyed{0};
    struct noted {
      ~noted() { ++destroyed; }
    };
    struct late {
      ~late() {
        auto const rejects_call = [](auto use) {
          try {
            use();
          } catch (heist::executor_error const& e) {
            rejected += std::string{e.what()}.find("being destroyed") != std::string::npos;
          }
        };
        rejects_call([] { scheduler->post([n = std::make_unique<noted>()] { ++ran; }); });
        rejects_call([] { scheduler->submit([] { ++ran; }).get(); });
        rejects_call([] { scheduler->run(*graph).get(); });
      }
    };
    for (int round = 0; round < 20; ++round) {
      heist::task_graph g;
      g.emplace([] { ++ran; });
      heist::executor<> ex{std::size_t{2}};
      scheduler = &ex, graph = &g;
      ex.submit([] { static thread_local late const l; }).get();
    }
    CHILD_REQUIRE(rejected == 60);
    CHILD_REQUIRE(ran == 0);
    CHILD_REQUIRE(destroyed == 20);
  });
  INFO(report.text());
  CHECK(report.clean());
}

TEST_CASE("misuse: a thread that posts while the executor is destroyed is refused, or its task runs", "[faults]") {
  auto const report = run_child([] {
    for (int round = 0; round < 200; ++round) {
      alignas(heist::executor<>) unsigned char room[sizeof(heist::executor<>)];  // its memory stays
      auto* const ex = ::new (static_cast<void*>(room)) heist::executor<>{std::size_t{1}};
      std::atomic<int> ran{0}, accepted{0};
      std::atomic<bool> begun{false};
      // A task of another executor's worker would do as well: any thread that is no worker of this executor.
      static std::atomic<bool> leave{false};
      leave = false;
      struct holds_up {
        ~holds_up() {
          while (!leave) std::this_thread::yield();  // the destructor waits for the worker's thread
        }
      };
      ex->submit([] { static thread_local holds_up const h; }).get();
      std::thread poster{[&] {
        try {
          for (;;) {
            ex->post([&] { ++ran; });
            ++accepted;
            begun = true;
            while (ran != accepted) std::this_thread::yield();  // the destructor waits for a moment without work
          }
        } catch (heist::executor_error const&) {
          leave = true;
        }
      }};
      while (!begun) std::this_thread::yield();
      ex->~executor();
      poster.join();
      CHILD_REQUIRE(ran == accepted);
    }
  });
  INFO(report.text());
  CHECK(report.clean());
}

TEST_CASE("misuse: pthread_exit() in a task ends the program with a sentence", "[faults]") {
  if (heist::under_tsan) return heist_test::skipped("ThreadSanitizer has its own end of a thread");
  for (int const what : {0, 1, 2, 3}) {
    auto const report = run_child(
        [what] {
          heist::executor<> ex{std::size_t{2}};
          auto const leave = [] { ::pthread_exit(nullptr); };
          if (what == 0) ex.post(leave);
          if (what == 1) ex.submit(leave).get();
          if (what == 2) {
            heist::task_graph g;
            g.emplace(leave);
            ex.run(g).get();
          }
          if (what == 3) ex.invoke([&](heist::context c) { c.fork_join([] {}, leave); });
          ex.wait_idle();
        },
        10s);
    INFO("case " << what << ": " << report.text());
    CHECK_FALSE(report.timed_out);
    CHECK(report.signal == SIGABRT);
    CHECK(report.says("pthread_exit"));
  }
}

TEST_CASE("misuse: recursion without end in a task stops at the guard of its stack", "[faults]") {
  auto const report = run_child(
      [] {
        heist::executor ex{heist::options{.workers = 1, .stack_size = 65536}};
        std::printf("%d\n", ex.invoke([] { return overflow(0); }));
      },
      10s);
  INFO(report.text());
  CHECK_FALSE(report.timed_out);
  CHECK_FALSE(report.clean());
  if (!heist::under_asan && !heist::under_tsan) CHECK(report.signal == SIGSEGV);
}

TEST_CASE("misuse: frames of 48 KiB do not jump over the guard", "[faults]") {
  if (heist::under_asan || heist::under_tsan) return heist_test::skipped("the sanitizers have a handler of their own");
  for (std::size_t const guard : {std::size_t{64} << 10, heist::options{}.guard_size}) {
    auto const report = run_child(
        [guard] {
          heist::executor ex{heist::options{.workers = 4, .guard_size = guard}};
          std::printf("%d\n", ex.invoke([] { return jump(60); }));
        },
        10s);
    INFO(report.text());
    CHECK_FALSE(report.timed_out);
    CHECK(report.signal == SIGSEGV);
    CHECK(report.says("overflowed its fiber's stack of 1048576 bytes"));
  }
}

TEST_CASE("destruction: thousands of fibers are freed on a thread with a small stack", "[faults]") {
  auto const report = run_child([] {
    int const waiting = heist::under_tsan ? 300 : heist::under_asan ? 500 : 3000;
    struct work {
      int waiting;
      static void* run(void* argument) {
        auto const self = static_cast<work*>(argument);
        heist::executor ex{heist::options{.workers = 1, .stack_size = 32768}};
        heist::detail::completion finished;
        std::atomic<int> begun{0};
        for (int i = 0; i < self->waiting; ++i) {
          ex.post([&] {
            ++begun;
            heist_test::wait_for(finished);
          });
        }
        while (begun != self->waiting) std::this_thread::sleep_for(1ms);
        ex.post([&] { finished.complete(); });
        ex.wait_idle();
        return nullptr;
      }
    } w{waiting};
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setstacksize(&attributes, std::size_t{128} << 10);
    pthread_t thread{};
    CHILD_REQUIRE(::pthread_create(&thread, &attributes, &work::run, &w) == 0);
    ::pthread_join(thread, nullptr);
  });
  INFO(report.text());
  CHECK(report.clean());
}
