// The sanitizers follow a switch of stacks: a planted bug on a fiber is reported, its clean twin is not.
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>

#include "faults/child_process.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "support/catch.hpp"

namespace {

// Volatile, so that no compiler proves the bug away.
int* volatile escaped = nullptr;

__attribute__((noinline)) void let_a_local_escape() {
  int local = 42;
  int* volatile at = &local;  // the compiler does not know its target (Clang watches no frame with assembly)
  escaped = at;
}

void fiber_program(bool planted, void (*bug)(bool)) {
  heist::executor ex{2};
  auto const parks = ex.submit([&ex, planted, bug] {
    ex.submit([] {}).get();  // perhaps on another fiber from here on
    bug(planted);
    ex.submit([] {}).get();
  });
  parks.wait();
}

}  // namespace

TEST_CASE("sanitizers: AddressSanitizer sees a heap overflow inside a task that has parked", "[fiber]") {
  if (!heist::under_asan) return;
  auto const bug = [](bool planted) {
    std::unique_ptr<char[]> const memory{new char[16]};
    volatile std::size_t index = planted ? 16 : 15;
    memory[index] = 1;
  };
  auto const twin = heist_test::run_child([&] { fiber_program(false, bug); });
  INFO(twin.text());
  CHECK(twin.clean());
  auto const planted = heist_test::run_child([&] { fiber_program(true, bug); });
  CHECK_FALSE(planted.clean());
  CHECK(planted.says("heap-buffer-overflow"));
}

TEST_CASE("sanitizers: AddressSanitizer sees an overflow of a local inside a task", "[fiber]") {
  if (!heist::under_asan) return;
  auto const bug = [](bool planted) {
    char local[16] = {};
    char* at = local;
    asm volatile("" : "+r"(at));  // the compiler does not know its target
    volatile std::size_t index = planted ? 16 : 15;
    at[index] = 1;
    asm volatile("" : : "r"(local) : "memory");
  };
  auto const twin = heist_test::run_child([&] { fiber_program(false, bug); });
  INFO(twin.text());
  CHECK(twin.clean());
  auto const planted = heist_test::run_child([&] { fiber_program(true, bug); });
  CHECK_FALSE(planted.clean());
  CHECK(planted.says("stack-buffer-overflow"));
}

TEST_CASE("sanitizers: AddressSanitizer sees the use of a local after its function returned", "[fiber]") {
  char const* const options = std::getenv("ASAN_OPTIONS");
  if (!heist::under_asan || options == nullptr ||
      std::string{options}.find("detect_stack_use_after_return=1") == std::string::npos)
    return;
  auto const bug = [](bool planted) {
    let_a_local_escape();
    if (planted) *escaped = 1;
  };
  auto const twin = heist_test::run_child([&] { fiber_program(false, bug); });
  INFO(twin.text());
  CHECK(twin.clean());
  auto const planted = heist_test::run_child([&] { fiber_program(true, bug); });
  CHECK_FALSE(planted.clean());
  CHECK(planted.says("stack-use-after-return"));
}

TEST_CASE("sanitizers: executors that have ended keep no address space", "[fiber]") {
  auto const pages = [] {
    std::size_t n = 0;
    std::ifstream{"/proc/self/statm"} >> n;
    return n;
  };
  auto const use_executors = [] {
    for (int i = 0; i != 20; ++i) {
      heist::executor ex{4};
      ex.invoke([&ex](auto ctx) {
        for (int j = 0; j != 4; ++j) ctx.fork_join([&ex](auto) { ex.submit([] {}).get(); }, [](auto) {});
      });
    }
  };
  // ASan maps 3 MB for each fiber, so a leak shows in each round. The C library keeps stacks of threads and arenas, which
  // may come in some rounds.
  std::size_t const limit = (std::size_t{16} << 20) / 4096;
  bool has_settled = false;
  for (int round = 0; round != 10 && !has_settled; ++round) {
    std::size_t const before = pages();
    use_executors();
    has_settled = pages() < before + limit;
  }
  CHECK(has_settled);
}

TEST_CASE("sanitizers: ThreadSanitizer sees a race between two tasks", "[fiber]") {
  if (!heist::under_tsan) return;
  auto const program = [](bool planted) {
    heist::executor ex{2};
    int plain = 0;
    std::atomic<int> started{0};
    std::mutex lock;
    auto const add = [&] {
      ++started;
      while (started != 2) {  // both run at once, on two workers
      }
      for (int i = 0; i < 1000; ++i) {
        if (planted) {
          ++plain;
        } else {
          std::lock_guard hold{lock};
          ++plain;
        }
      }
    };
    auto a = ex.submit(add), b = ex.submit(add);
    a.get();
    b.get();
    ex.submit([&] { ex.submit([&] { ++plain; }).get(); }).get();  // ordered: no race
    if (!planted) CHILD_REQUIRE(plain == 2001);
  };
  // A child made by fork() alone reports as well as a fresh program; its exit code says so.
  auto const run = [&](bool planted) {
    return heist_test::run_child([&] {
      program(planted);
      std::exit(0);  // the report's exit code is set at exit
    });
  };
  auto const twin = run(false);
  INFO(twin.text());
  CHECK(twin.clean());
  auto const planted = run(true);
  CHECK_FALSE(planted.clean());
  CHECK(planted.says("data race"));
}
