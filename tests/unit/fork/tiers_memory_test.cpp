// Policies without the region's memory of squads. tests/unit/simulate/squads_test.cpp measures the benefit of the
// memory in the simulator, where runs are repeatable.
#include <chrono>
#include <cstdint>

#include "heist/region.hpp"
#include "heist/tiers.hpp"
#include "unit/fork/tiers.hpp"

using namespace std::chrono_literals;
using heist::region;
using heist_test::all_free;
using heist_test::slow;
using heist_test::works;

namespace {

using heist::policy::without_memory;
static_assert(heist::policy::executor_policy<without_memory<heist::policy::cab>>);
static_assert(!heist::tier::has_history_squads<without_memory<heist::policy::cats>::tier_type>());
static_assert(heist::tier::has_history_squads<heist::policy::cab::tier_type>());
static_assert(heist::tier::measuring_tier<without_memory<heist::policy::cats>::tier_type>);

}  // namespace

TEST_CASE("tiers: without memory the rules are the same", "[fork]") {
  heist::executor<without_memory<heist::policy::cab>> ex{heist_test::four_by_four()};
  heist_test::watchdog guard{ex, 60s};
  for (std::uint32_t level = 0; level < 6; ++level) {
    region r{{.boundary_level = level}};
    for (int i = 0; i < (slow ? 2 : 10); ++i) {
      CHECK(ex.invoke(r, [](auto c) { return heist_test::fib(c, 8); }) == 21);
      CHECK(all_free(ex));
    }
  }
  CHECK(works(ex));
}

TEST_CASE("tiers: a region may go from a policy with memory to one without, and back", "[fork]") {
  heist::executor<heist::policy::cab> with{heist_test::two_by_two()};
  heist::executor<without_memory<heist::policy::cab>> without{heist_test::two_by_two()};
  heist_test::watchdog guard{with, 60s};
  guard.watch(without);
  region r{{.boundary_level = 3}};
  for (int i = 0; i < 5; ++i) {
    CHECK(with.invoke(r, [](auto c) { return heist_test::fib(c, 7); }) == 13);
    CHECK(without.invoke(r, [](auto c) { return heist_test::fib(c, 7); }) == 13);
  }
}
