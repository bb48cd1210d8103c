// heist/core/topology/squads.hpp: which workers form a squad, on machines that need not exist.
#include "heist/core/topology/squads.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "heist/core/base/errors.hpp"
#include "heist/core/topology/synthetic.hpp"
#include "support/catch.hpp"

namespace {

namespace topology = heist::topology;
using heist::squad_by;
using list = std::vector<std::uint32_t>;
using lists = std::vector<list>;

topology::squads squads_of(char const* machine, squad_by level, std::size_t workers) {
  return topology::make_squads(topology::parse(machine), level, workers);
}

/// Checks that hold for every division.
void check_consistent(topology::squads const& s, topology::machine const& m, std::size_t workers) {
  REQUIRE(s.squad_of.size() == workers);
  REQUIRE(s.pu_of_worker.size() == workers);
  REQUIRE(s.head.size() == s.members.size());
  std::size_t total = 0;
  for (std::uint32_t squad = 0; squad < s.members.size(); ++squad) {
    REQUIRE_FALSE(s.members[squad].empty());
    CHECK(s.head[squad] == s.members[squad].front());
    std::uint32_t previous = 0;
    for (auto const w : s.members[squad]) {
      CHECK(s.squad_of[w] == squad);
      CHECK((w == s.members[squad].front() || w > previous));
      previous = w;
      ++total;
    }
  }
  CHECK(total == workers);
  for (auto const p : s.pu_of_worker) CHECK(p < m.pu_count());
}

}  // namespace

TEST_CASE("workers_take_one_core_each_then_siblings_then_start_over") {
  auto const s = squads_of("package:2 core:2 pu:2", squad_by::package, 10);
  CHECK(s.pu_of_worker == list{0, 2, 4, 6, 1, 3, 5, 7, 0, 2});
  CHECK(s.members == lists{{0, 1, 4, 5, 8, 9}, {2, 3, 6, 7}});
  CHECK(s.head == list{0, 2});
  CHECK(s.squad_of == list{0, 0, 1, 1, 0, 0, 1, 1, 0, 0});
}

TEST_CASE("squads_follow_the_level_asked_for") {
  char const* const m = "package:2 numa:2 l3:1 l2:2 core:2 pu:1";
  CHECK(squads_of(m, squad_by::package, 16).members.size() == 2);
  CHECK(squads_of(m, squad_by::numa, 16).members.size() == 4);
  CHECK(squads_of(m, squad_by::l3, 16).members.size() == 4);
  CHECK(squads_of(m, squad_by::l2, 16).members.size() == 8);
  CHECK(squads_of(m, squad_by::core, 16).members.size() == 16);
  CHECK(squads_of(m, squad_by::l2, 16).members[1] == list{2, 3});
}

TEST_CASE("squads_without_workers_have_no_index") {
  auto const s = squads_of("package:4 l3:1 core:4 pu:1", squad_by::package, 6);
  CHECK(s.members == lists{{0, 1, 2, 3}, {4, 5}});
  CHECK(squads_of("package:4 core:4 pu:1", squad_by::package, 1).members == lists{{0}});
  CHECK(squads_of("package:4 core:4 pu:1", squad_by::package, 0).members.empty());
}

TEST_CASE("automatic_takes_the_outermost_shared_cache") {
  auto const resolved = [](char const* text) { return topology::resolve(topology::parse(text), squad_by::automatic); };
  CHECK(resolved("package:4 l3:1 core:4 pu:1") == squad_by::package);
  CHECK(resolved("package:2 l3:4 core:4 pu:1") == squad_by::package);
  CHECK(resolved("package:1 l3:4 core:4 pu:1") == squad_by::l3);
  CHECK(resolved("package:1 l3:1 l2:4 core:4 pu:1") == squad_by::l2);
  CHECK(resolved("package:2 l2:2 core:2 pu:1") == squad_by::l2);              // packages without an L3
  CHECK(resolved("package:2 core:2 pu:1") == squad_by::package);              // nothing is known about caches
  CHECK(resolved("package:1 l3:1 l2:2 core:1 pu:1") == squad_by::automatic);  // private L2: one squad
  CHECK(resolved("package:1 l3:2 core:1 pu:2") == squad_by::automatic);       // SMT siblings are not several cores
  CHECK(resolved("core:8 pu:1") == squad_by::automatic);
  CHECK(squads_of("package:1 l3:1 l2:2 core:1 pu:1", squad_by::automatic, 5).members.size() == 1);
}

TEST_CASE("missing_levels_fall_back_to_larger_parts") {
  CHECK(squads_of("package:2 core:2 pu:1", squad_by::l3, 4).members == lists{{0, 1}, {2, 3}});
  CHECK(squads_of("core:4 pu:1", squad_by::l3, 4).members.size() == 1);
  CHECK(squads_of("core:4 pu:1", squad_by::package, 4).members.size() == 1);
  CHECK(squads_of("core:2 pu:2", squad_by::l2, 4).members == lists{{0, 2}, {1, 3}});
  // One half with an L3, one without, in one package.
  topology::machine m;
  for (std::uint32_t i = 0; i < 4; ++i) {
    auto const n = static_cast<std::int32_t>(i);
    m.pus.push_back({i, n, -1, i < 2 ? 0 : -1, 0, 0});
  }
  CHECK(topology::make_squads(m, squad_by::l3, 4).members == lists{{0, 1}, {2, 3}});
  CHECK(topology::make_squads(m, squad_by::l2, 4).members.size() == 4);
  for (auto& p : m.pus) p.core = -1;
  CHECK(topology::make_squads(m, squad_by::core, 4).members.size() == 4);
}

TEST_CASE("every_division_is_consistent") {
  for (auto const* text : {"pu:1", "core:2 pu:1", "package:4 l3:1 core:4 pu:1", "package:8 l3:1 core:10 pu:2",
                           "numa:2 l2:4 core:2 pu:2", "2 2 2 2 2 2", "l3:3 l2:5 core:1 pu:3"}) {
    auto const m = topology::parse(text);
    for (auto const level :
         {squad_by::automatic, squad_by::package, squad_by::numa, squad_by::l3, squad_by::l2, squad_by::core}) {
      for (std::size_t workers : {1, 2, 3, 7, 16, 63, 200}) {
        INFO(text << " by " << static_cast<int>(level) << ", " << workers << " workers");
        check_consistent(topology::make_squads(m, level, workers), m, workers);
      }
    }
  }
}

TEST_CASE("a_core_gets_a_second_worker_only_when_each_has_one") {
  auto const m = topology::parse("package:2 core:3 pu:2");
  auto const s = topology::make_squads(m, squad_by::package, 6);
  std::set<std::int32_t> cores;
  for (auto const p : s.pu_of_worker) cores.insert(m.pus[p].core);
  CHECK(cores.size() == 6);
}

TEST_CASE("squads_given_by_hand") {
  auto const m = topology::parse("package:2 core:2 pu:2");
  auto const s = topology::make_squads(m, {{4, 5}, {0, 2}}, 5);
  CHECK(s.pu_of_worker == list{0, 2, 4, 5, 0});
  CHECK(s.members == lists{{2, 3}, {0, 1, 4}});
  CHECK(s.head == list{2, 0});
  check_consistent(s, m, 5);
  CHECK(topology::make_squads(m, {{4, 5}, {0, 2}}, 2).members == lists{{0, 1}});
}

TEST_CASE("wrong_squads_are_rejected_with_a_reason") {
  auto const m = topology::parse("package:2 core:2 pu:1");
  auto const why = [&](lists const& sets) {
    try {
      topology::make_squads(m, sets, 4);
    } catch (heist::topology_error const& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(why({}).find("no squads are given") != std::string::npos);
  CHECK(why({{0}, {}}).find("squad 1 has no PUs") != std::string::npos);
  CHECK(why({{0, 4}}).find("squad 0 names PU 4, but the machine has 4 PUs") != std::string::npos);
  CHECK(why({{0, 1}, {2, 1}}).find("PU 1 is named by squad 0 and again by squad 1") != std::string::npos);
  CHECK(why({{0, 0}}).find("PU 0 is named by squad 0 and again by squad 0") != std::string::npos);
  CHECK_THROWS_AS(topology::make_squads(topology::machine{}, squad_by::core, 1), heist::topology_error);
  CHECK_THROWS_AS(topology::make_squads(topology::machine{}, lists{{0}}, 1), heist::topology_error);
}
