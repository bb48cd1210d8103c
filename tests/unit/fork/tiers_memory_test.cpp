// Policies without the region's memory of squads. tests/unit/simulate/squads_test.cpp measures the benefit of the
// memory in the simulator, where runs are repeatable.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "heist/locality/policy/path.hpp"
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

TEST_CASE("tiers: a head leaves a task to the head that comes for it", "[fork]") {
  struct node {
    node *older = nullptr, *newer = nullptr, *next = nullptr;
  };
  heist::detail::squad_set<node, node> set;
  set.make(2, 1, heist::detail::idle_config::of<heist::idle::adaptive>());
  auto &theirs = set[0], &own = set[1];
  node task;
  auto const is_stolen = [&] {
    set.add(theirs, task);
    std::uint32_t from = 0;
    node* const found = set.head_take(own, from);
    CHECK((found == nullptr || from == 0));
    if (found != nullptr) {
      set.release(own, true);
    } else {
      CHECK(theirs.pool.take() == &task);
    }
    return found != nullptr;
  };
  CHECK_FALSE(is_stolen());
  theirs.pool.set_busy();
  CHECK(is_stolen());
  set.release(theirs, true);
  CHECK_FALSE(is_stolen());
  set.head_leaves(theirs);
  CHECK(is_stolen());
  set.head_returns(theirs);
  CHECK_FALSE(is_stolen());
  set.head_falls_asleep(theirs);
  CHECK(is_stolen());
  set.head_is_awake(theirs);

  // After a long search it takes the task all the same: the other head's thread may have no processor.
  set.add(theirs, task);
  bool was_busy = true;
  CHECK(set.head_take_any(own, was_busy) == &task);
  CHECK_FALSE(was_busy);
  set.release(own, true);

  // What belongs to its own squad comes first.
  node mine;
  theirs.pool.set_busy();
  set.add(theirs, task);
  set.add(own, mine);
  std::uint32_t from = 0;
  CHECK(set.head_take(own, from) == &mine);
  CHECK(from == 1);
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

namespace {

using four_squads = std::array<std::uint32_t, 4>;

/// Four leaves on two squads of one worker each; leaf `last` ends after all others. So the other squad runs these.
/// Returns the squad that ran each leaf.
template <class Executor>
four_squads run_last(Executor& ex, region& r, int last) {
  std::atomic<int> ended{0};
  four_squads squads{};
  auto const leaf = [&](std::size_t number) {
    return [&, number](auto c) {
      squads[number] = static_cast<std::uint32_t>(c.squad_id());
      while (number == static_cast<std::size_t>(last) && ended != 3) heist_test::yield();
      ++ended;
    };
  };
  ex.invoke(r, [&](auto c) {
    c.fork_join([&](auto d) { d.fork_join(leaf(0), leaf(1)); }, [&](auto d) { d.fork_join(leaf(2), leaf(3)); });
  });
  return squads;
}

/// The squads that the region has for the leaves, and `otherwise` for those for which it has none.
four_squads squads_of_leaves(region& r, four_squads const& otherwise) {
  heist::detail::region_access const known{r};
  four_squads squads{};
  for (std::uint32_t i = 0; i != 4; ++i) {
    using heist::tier::path_of_child;
    squads[i] = known.squad_of(path_of_child(path_of_child(0, i / 2), i % 2), otherwise[i], 2);
  }
  return squads;
}

constexpr four_squads none{99, 99, 99, 99};

}  // namespace

TEST_CASE("tiers: tasks keep their first squads where memory has nodes and the data is too much for caches", "[fork]") {
  auto const run = [](char const* machine, std::uint64_t bytes, bool keeps) {
    INFO(machine << ", " << bytes << " bytes");
    heist::executor<heist::policy::cab> ex{heist_test::machine_of(machine, 2)};
    heist_test::watchdog guard{ex, 60s};
    bool both = false;
    for (int attempt = 0; attempt != 1000 && !both; ++attempt) {  // one squad may run all leaves, the blocked one last
      region r{{.bytes = bytes, .boundary_level = 3}};
      four_squads const first = run_last(ex, r, 0);
      CHECK(squads_of_leaves(r, keeps ? none : first) == first);
      four_squads const second = run_last(ex, r, 1);
      CHECK(squads_of_leaves(r, keeps ? none : second) == (keeps ? first : second));
      both = second != first;
    }
    CHECK(both);
  };
  run("package:2 [numa] l3:1(size=64KiB) core:1 pu:1", 1 << 20, true);
  run("package:2 [numa] l3:1(size=64KiB) core:1 pu:1", 1 << 17, false);  // fits into both caches
  run("package:2 [numa] l3:1(size=64KiB) core:1 pu:1", 0, false);        // unknown
  run("package:2 l3:1(size=64KiB) core:1 pu:1", 1 << 20, false);         // one node
}

TEST_CASE("tiers: the first run of a region with many inter-squad tasks is remembered whole", "[fork]") {
  heist::executor<heist::policy::cab> ex{heist_test::machine_of("package:2 [numa] l3:1(size=64KiB) core:1 pu:1", 2)};
  heist_test::watchdog guard{ex, 60s};
  constexpr std::uint32_t level = 9;
  region r{{.branching = 2, .bytes = 1 << 20, .boundary_level = level}};
  std::array<std::uint32_t, 1u << (level - 1)> squads{};
  auto const down = [&](auto const& self, auto c, std::uint32_t depth, std::size_t number) -> void {
    if (depth == level) {
      squads[number] = static_cast<std::uint32_t>(c.squad_id());
      return;
    }
    c.fork_join([&, depth, number](auto d) { self(self, d, depth + 1, 2 * number); },
                [&, depth, number](auto d) { self(self, d, depth + 1, 2 * number + 1); });
  };
  ex.invoke(r, [&](auto c) { down(down, c, 1, 0); });
  heist::detail::region_access const known{r};
  for (std::uint32_t i = 0; i != squads.size(); ++i) {
    std::uint64_t path = 0;
    for (std::uint32_t bit = level - 1; bit-- != 0;) path = heist::tier::path_of_child(path, i >> bit & 1);
    CHECK(known.squad_of(path, 99, 2) == squads[i]);
  }
}
