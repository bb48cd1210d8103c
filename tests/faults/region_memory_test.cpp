// operator new fails inside regions, at any call. A run ends with its result or with bad_alloc, every squad is
// released, and the region's next run is right.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <new>
#include <string>

#include "faults/child_process.hpp"
#include "faults/failing_new.hpp"
#include "heist/core/fork/scope.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/policy.hpp"
#include "heist/region.hpp"
#include "heist/replay.hpp"
#include "heist/tiers.hpp"
#include "heist/topology.hpp"
#include "support/catch.hpp"

using namespace std::chrono_literals;
using heist::region;
using heist_test::run_child;

namespace {

constexpr long leaves = 16 * 6;

/// A tree of 16 tasks, each with a scope of 6 children.
template <class Context>
long tree(Context c, int left) {
  c.footprint(std::size_t{1} << 16);
  if (left == 0) {
    std::atomic<long> n{0};
    heist::scope s{c};
    for (int i = 0; i < 6; ++i) s.fork([&n](auto) { ++n; });
    s.join();
    return n;
  }
  auto const [a, b] =
      c.fork_join([=](Context d) { return tree(d, left - 1); }, [=](Context d) { return tree(d, left - 1); });
  return a + b;
}

template <class Executor>
bool right(Executor& ex, region& r) {
  return ex.invoke(r, [](auto c) { return tree(c, 4); }) == leaves;
}

heist::options two_by_two() {
  return {.workers = 4,
          .machine = heist::topology::parse("package:2 l3:1(size=256KiB) core:2 pu:1"),
          .squads = heist::squad_by::package,
          .stack_size = std::size_t{128} << 10};
}

}  // namespace

TEMPLATE_TEST_CASE("memory: the n-th allocation fails while a region runs, for every n", "[faults]", heist::policy::cab,
                   heist::policy::cats, heist::policy::replay) {
  for (long const in_a_row : {1L, 40L}) {
    auto const report = run_child(
        [=] {
          long n = 0, rejected = 0;
          for (;; n += n < 40 ? 1 : 5) {
            heist::executor<TestType> ex{two_by_two()};
            region r{{.branching = 2, .bytes = std::size_t{1} << 20}};
            long failures = 0;
            for (int run = 0; run < 2; ++run) {  // the first one is profiled, under cats
              new_fault const f{run == 0 ? n : n / 2, in_a_row};
              try {
                CHILD_REQUIRE(right(ex, r));
              } catch (std::bad_alloc const&) {
                ++rejected;
              } catch (heist::stack_error const&) {
                ++rejected;
              }
              failures += failed_allocations();
            }
            std::string const state = ex.state_text();
            CHILD_REQUIRE(state.find("busy") == std::string::npos);
            for (int run = 0; run < 3; ++run) CHILD_REQUIRE(right(ex, r));
            if (failures == 0) break;
          }
          CHILD_REQUIRE(n > 2);
          std::printf("running a region: %ld places, %ld times a run was refused\n", n, rejected);
        },
        60s);
    INFO(in_a_row << " in a row: " << report.text());
    CHECK(report.clean());
    std::printf("%s", report.output.c_str());
  }
}
