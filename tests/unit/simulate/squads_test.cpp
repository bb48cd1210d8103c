// heist/tools/simulate with policies of two tiers: the rules of CAB and CATS, checked as those of real runs are.
#include <cstdint>
#include <optional>
#include <string>

#include "heist/core/topology/squads.hpp"
#include "heist/tiers.hpp"
#include "heist/tools/observe/placement_trace.hpp"
#include "support/catch.hpp"
#include "support/texts.hpp"
#include "unit/simulate/policies.hpp"

using namespace heist_test;
using heist::squad_by;

namespace {

sim::options on_four_sockets() {
  return {.machine = four_sockets(), .squads = squad_by::package, .trace = true};
}

template <class Policy>
heist::placement_report checked(sim::report const& r, std::optional<std::uint32_t> deepest = std::nullopt) {
  auto const squads = heist::topology::make_squads(four_sockets(), squad_by::package, r.workers);
  return heist::check_placement(r.recording->placement(), squads, deepest);
}

}  // namespace

TEST_CASE("squads: CAB's rules hold at every boundary level", "[sim]") {
  auto const p = sim::balanced_tree({.depth = 8, .leaf = sim::exponential(5000), .leaf_bytes = 1024, .rounds = 3});
  for (std::uint32_t const level : {0u, 1u, 2u, 3u, 5u, 9u, 20u}) {
    for (std::uint64_t seed = 1; seed != 6; ++seed) {
      auto wanted = on_four_sockets();
      wanted.boundary_level = level;
      wanted.seed = seed;
      auto const r = heist::simulate<policy::cab>(p, wanted);
      auto const report = checked<policy::cab>(r, level);
      INFO("level " << level << ": " << report.text());
      CHECK(report.ok());
      CHECK(r.tasks == p.tasks_run());
      std::uint64_t const inter = level == 0 ? 0 : (std::uint64_t{2} << (level > 9 ? 8 : level - 1)) - 1;
      CHECK(r.inter_tasks == 3 * inter);
      if (level >= 3) CHECK(report.squads_used == 4);
    }
  }
}

TEST_CASE("squads: the boundary level is that of Eq. 4, and the note says so", "[sim]") {
  auto const p = sim::heat({.rows = 1024, .columns = 1024, .steps = 4});
  auto const r = heist::simulate<policy::cab>(p, on_four_sockets());
  REQUIRE(r.notes.size() == 1);
  CHECK(has(r.notes[0], "boundary level 3 by Eq. 4: B = 2, M = 4, S_d = 16777216 bytes, S_c = 6291456 bytes"));
  CHECK(r.inter_tasks == 4 * 7);
  auto const report = checked<policy::cab>(r, 3);
  INFO(report.text());
  CHECK(report.ok());
}

TEST_CASE("squads: CATS profiles the first run and divides those after it", "[sim]") {
  auto const p = sim::heat({.rows = 1024, .columns = 512, .steps = 5, .leaf_rows = 16, .unbalanced = true});
  auto const r = heist::simulate<policy::cats>(p, on_four_sockets());
  REQUIRE(r.notes.size() == 1);
  CHECK(has(r.notes[0], "two tiers"));
  CHECK(r.inter_tasks > 0);
  CHECK(r.inter_tasks % 4 == 0);
  auto const report = checked<policy::cats>(r);
  INFO(report.text());
  CHECK(report.ok());
  CHECK(report.squads_used == 4);
}

TEST_CASE("squads: a program that computes and touches little is left to traditional stealing by CATS", "[sim]") {
  auto const p = sim::balanced_tree({.depth = 8, .leaf = 100'000, .leaf_bytes = 64, .rounds = 2});
  auto const r = heist::simulate<policy::cats>(p, on_four_sockets());
  REQUIRE(r.notes.size() == 1);
  CHECK(has(r.notes[0], "CPU-bound"));
  CHECK(r.inter_tasks == 0);
}

TEST_CASE("squads: repeated sweeps find their data in the squad's cache under CAB and CATS, and not at random",
          "[sim]") {
  auto const p = sim::heat({.rows = 1024, .columns = 512, .steps = 12});
  auto wanted = on_four_sockets();
  wanted.caches.block_bytes = 1024;
  auto const random = heist::simulate<policy::random>(p, wanted);
  auto const cab = heist::simulate<policy::cab>(p, wanted);
  auto const cats = heist::simulate<policy::cats>(p, wanted);
  CHECK(random.cache.accesses == cab.cache.accesses);
  CHECK(2 * cab.cache.memory < random.cache.memory);
  CHECK(2 * cats.cache.memory < random.cache.memory);
  CHECK(cab.makespan < random.makespan);
  CHECK(cats.makespan < random.makespan);
}

TEST_CASE("squads: without memory sweeps are dealt anew, by the same rules", "[sim]") {
  auto const p = sim::heat({.rows = 512, .columns = 512, .steps = 30});
  auto wanted = on_four_sockets();
  wanted.costs.private_hit = 2;
  auto const with = heist::simulate<policy::cab>(p, wanted);
  auto const without = heist::simulate<policy::without_memory<policy::cab>>(p, wanted);
  auto const report = checked<policy::without_memory<policy::cab>>(without);
  INFO(report.text());
  CHECK(report.ok());
  CHECK(without.notes == with.notes);
  CHECK(without.inter_tasks == with.inter_tasks);
  CHECK(with.inter_steals * 2 < without.inter_steals);
  CHECK(with.cache.memory < without.cache.memory);
}

namespace {

/// Heat beyond the caches of four sockets with memory of their own.
template <class Policy>
sim::report beyond_the_caches(sim::page_placement pages) {
  auto const p = sim::heat({.rows = 2048, .columns = 512, .steps = 10});
  sim::options wanted{
      .machine = heist::topology::parse("package:4 [numa] l3:1(size=1MiB) l2:4(size=64KiB) core:1 pu:1"),
      .squads = squad_by::package};
  wanted.caches.block_bytes = 1024;
  wanted.numa.pages = pages;
  return heist::simulate<Policy>(p, wanted);
}

}  // namespace

TEMPLATE_TEST_CASE("squads: data beyond the caches is found in near memory, where first touch has put it", "[sim]",
                   policy::cab, policy::cats) {
  auto const far_share = [](sim::report const& r) {
    return static_cast<double>(r.cache.far_memory) / static_cast<double>(r.cache.memory);
  };
  using sim::page_placement;
  auto const with = beyond_the_caches<TestType>(page_placement::first_touch);
  auto const without = beyond_the_caches<policy::without_memory<TestType>>(page_placement::first_touch);
  CHECK(far_share(with) < 0.35);
  CHECK(far_share(without) > 0.5);
  CHECK(with.makespan < without.makespan);
  CHECK(far_share(beyond_the_caches<TestType>(page_placement::interleaved)) > 0.7);
}

TEST_CASE("squads: with one squad there are no tiers", "[sim]") {
  auto const p = sim::heat({.rows = 256, .columns = 64, .steps = 3});
  for_each_policy([&]<class Policy>(char const* name) {
    INFO(name);
    auto const r = heist::simulate<Policy>(p, {.workers = 6});
    CHECK(r.squads == 1);
    CHECK(r.inter_tasks == 0);
    CHECK(r.tasks == p.tasks_run());
  });
}

TEST_CASE("squads: may be given by hand", "[sim]") {
  auto const p = sim::heat({.rows = 256, .columns = 64, .steps = 3});
  sim::options wanted{.machine = four_sockets(), .squad_pus = {{0, 5, 10}, {15}}};
  wanted.caches.shared_bytes = 1 << 20;
  auto const r = heist::simulate<policy::cab>(p, wanted);
  CHECK(r.squads == 2);
  CHECK(r.inter_tasks == 3 * 3);
  CHECK(r.tasks == p.tasks_run());
}
