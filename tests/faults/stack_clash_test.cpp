// Compiled with -fstack-clash-protection (tests/CMakeLists.txt): frames larger than the guard stop in it, too.
#include <csignal>
#include <cstddef>
#include <cstdio>

#include "faults/child_process.hpp"
#include "heist/executor.hpp"
#include "support/catch.hpp"

namespace {

int huge(int depth);
int (*volatile again)(int) = &huge;  // volatile, so that no compiler sees the recursion

/// A frame of 600 KiB of which only the lower end is written to.
int huge(int depth) {
  char volatile frame[600 << 10];
  frame[0] = static_cast<char>(depth);
  return depth == 0 ? 0 : again(depth - 1) + frame[0];
}

}  // namespace

TEST_CASE("misuse: with -fstack-clash-protection a frame larger than the guard stops in it", "[faults]") {
  if (heist::under_asan || heist::under_tsan) return heist_test::skipped("the sanitizers have a handler of their own");
  static_assert((600 << 10) > heist::detail::default_guard);
  auto const fits = heist_test::run_child([] {
    heist::executor ex{std::size_t{2}};
    ex.invoke([] { return again(0); });
  });
  INFO(fits.text());
  CHECK(fits.clean());
  auto const report = heist_test::run_child([] {
    heist::executor ex{std::size_t{2}};
    std::printf("%d\n", ex.invoke([] { return again(3); }));
  });
  INFO(report.text());
  CHECK_FALSE(report.timed_out);
  CHECK(report.signal == SIGSEGV);
  CHECK(report.says("overflowed its fiber's stack of 1048576 bytes"));
}
