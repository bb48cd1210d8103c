// Ten million children in one scope: all run, and memory stays bounded.
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>

#include "faults/child_process.hpp"
#include "support/catch.hpp"
#include "unit/fork/every_policy.hpp"

using heist_test::slow;

namespace {

/// Most that this process has ever had in memory, in KiB.
long peak_memory() {
  rusage u{};
  ::getrusage(RUSAGE_SELF, &u);
  return u.ru_maxrss;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("scope: ten million children in bounded memory", "[fork]", heist_test::both_orders) {
  constexpr long children = slow ? 100'000 : 10'000'000;
  for (std::size_t const workers : {1u, 2u, 4u}) {
    // In a process of its own: the peak covers the whole life of a process.
    auto const report = heist_test::run_child(
        [workers] {
          heist::executor<TestType> ex{workers};
          ex.invoke([](auto ctx) {
            heist::scope s{ctx};
            s.fork([] {});
          });
          long const before = peak_memory();
          std::atomic<long> n{0};
          long sum = 0;  // the scope's own task adds to it between the forks
          ex.invoke([&](auto ctx) {
            heist::scope s{ctx};
            for (long i = 0; i < children; ++i) {
              s.fork([&n] { n.fetch_add(1, std::memory_order_relaxed); });
              sum += i;
            }
          });
          long const grown = peak_memory() - before;
          std::printf("%ld children on %zu workers: %ld KiB\n", children, workers, grown);
          CHILD_REQUIRE(n == children);
          CHILD_REQUIRE(sum == children * (children - 1) / 2);
          if (!slow) CHILD_REQUIRE(grown < 32 * 1024);
        },
        std::chrono::seconds{60});
    INFO(report.text());
    CHECK(report.clean());
  }
}
