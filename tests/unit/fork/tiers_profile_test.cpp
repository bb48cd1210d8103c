// Regions under policy::cats: the first run is measured, the next ones are divided by it, and what a region says of
// that.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "heist/locality/policy/path.hpp"
#include "heist/region.hpp"
#include "heist/tiers.hpp"
#include "support/texts.hpp"
#include "support/yield.hpp"
#include "unit/fork/tiers.hpp"
#include "unit/fork/told_counters.hpp"

using namespace std::chrono_literals;
using heist::profile_decision;
using heist::profile_source;
using heist::region;
using heist::task_tier;
using heist_test::all_free;
using heist_test::fib;
using heist_test::has;
using heist_test::kib;
using heist_test::line;
using heist_test::mib;
using heist_test::slow;
using heist_test::told_counters;
using heist_test::works;

namespace {

using counted = heist_test::measured_by<told_counters>;
using rejected = heist_test::measured_by<heist_test::rejected_counters>;

/// The action of a task at the bottom of the tree.
enum class leaf_does { misses, declares, computes, nothing };

/// A tree of tasks with `branching` children each; at its bottom each task touches 256 KiB.
template <class Context>
long tree(Context c, int depth, leaf_does what, int branching = 2) {
  // Declared bytes are compared with time, and on a loaded machine a yield may take long.
  if (what != leaf_does::declares) heist_test::yield();
  if (depth == 0) {
    if (what == leaf_does::misses) told_counters::touch(256 * kib / line, 10 * 256 * kib / line);
    if (what == leaf_does::computes) told_counters::touch(1, 1'000'000);
    if (what == leaf_does::declares) c.footprint(256 * kib);
    return 1;
  }
  auto const down = [=](Context d) { return tree(d, depth - 1, what, branching); };
  if (branching == 3) {
    auto const [x, y, z] = c.fork_join(down, down, down);
    return x + y + z;
  }
  auto const [x, y] = c.fork_join(down, down);
  return x + y;
}

/// The tiers of tree(5): 32 leaves of 256 KiB, 1 MiB of cache.
void check_tree_of_5(region const& r) {
  auto const& p = r.profile();
  INFO(p.text());
  CHECK(p.decision() == profile_decision::two_tiers);
  REQUIRE(p.size() == 63);
  CHECK(p[0].soid_bytes == 8 * mib);
  CHECK(p[0].tier == task_tier::inter);
  CHECK(p.count(task_tier::inter) == 7);
  CHECK(p.count(task_tier::leaf_inter) == 8);
  CHECK(p.count(task_tier::intra) == 48);
}

}  // namespace

TEST_CASE("CATS: tasks go where most of their data was touched in the first run", "[fork]") {
  heist::executor<counted> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  region r;
  std::vector<std::atomic<unsigned>> in_second_squad(8);  // of the 4 leaves of each leaf inter-squad task
  auto const down = [&](auto const& self, auto c, int depth, std::size_t task) -> void {
    heist_test::yield();
    if (depth != 0) {
      auto const child = [&self, depth, task](std::size_t which) {
        return [&self, depth, task, which](auto d) { self(self, d, depth - 1, depth > 2 ? 2 * task + which : task); };
      };
      c.fork_join(child(0), child(1));
      return;
    }
    told_counters::touch(256 * kib / line, 10 * 256 * kib / line);
    if (c.squad_id() == 1) ++in_second_squad[task];
  };
  ex.invoke(r, [&](auto c) { down(down, c, 5, 0); });
  INFO(r.profile().text());
  REQUIRE(r.profile().count(task_tier::leaf_inter) == 8);
  heist::detail::region_access const known{r};
  for (std::uint32_t i = 0; i != 8; ++i) {
    using heist::tier::path_of_child;
    std::uint64_t const path = path_of_child(path_of_child(path_of_child(0, i / 4), i / 2 % 2), i % 2);
    INFO("task " << i << ", leaves in the second squad: " << in_second_squad[i]);
    CHECK(known.squad_of(path, 99, 2) == (in_second_squad[i] > 2 ? 1 : 0));
  }
}

TEST_CASE("CATS: a run that is profiled again keeps the first squads where pages have nodes", "[fork]") {
  heist::executor<counted> ex{heist_test::machine_of("package:2 [numa] l3:1(size=1MiB) core:1 pu:1", 2)};
  heist_test::watchdog guard{ex, 60s};
  region r;
  auto const leaves = [&] {
    heist::detail::region_access const known{r};
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = 0; i != 8; ++i) {
      using heist::tier::path_of_child;
      all.push_back(known.squad_of(path_of_child(path_of_child(path_of_child(0, i / 4), i / 2 % 2), i % 2), 99, 2));
    }
    return all;
  };
  auto const run = [&] { ex.invoke(r, [](auto c) { return tree(c, 5, leaf_does::misses); }); };
  run();
  auto const first = leaves();
  for (std::uint32_t const squad : first) CHECK(squad < 2);
  for (int i = 0; i != 5; ++i) {
    r.reprofile();
    run();
    CHECK(has(r.explain(), "profiled"));
    CHECK(leaves() == first);
  }
}

TEST_CASE("CATS: the first run is profiled, the others have two tiers", "[fork]") {
  heist::executor<counted> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  region r;
  CHECK(r.profile().empty());
  auto const run = [&] { return ex.invoke(r, [](auto c) { return tree(c, 5, leaf_does::misses); }); };
  CHECK(run() == 32);
  CHECK(has(r.explain(), "profiled 63 tasks: two tiers: 8 leaf inter-squad tasks"));
  CHECK(r.profile().source() == profile_source::hardware);
  check_tree_of_5(r);
  for (int i = 0; i < (slow ? 5 : 50); ++i) {
    CHECK(run() == 32);
    CHECK(r.explain() == r.profile().explain());
    CHECK_FALSE(r.boundary_level());
    CHECK(all_free(ex));
  }
  check_tree_of_5(r);
}

TEST_CASE("CATS: what a task touches is counted once, on whichever worker", "[fork]") {
  heist::executor<counted> ex{heist_test::four_by_four()};
  heist_test::watchdog guard{ex, 60s};
  for (int round = 0; round < (slow ? 3 : 30); ++round) {
    region r;
    ex.invoke(r, [](auto c) {
      // Before, between and after forks, waits and scopes; each with a number of lines of its own.
      auto const task = [](auto self, auto d, int left) -> void {
        told_counters::touch(1000, 10);
        if (left == 0) return;
        d.fork_join([&](auto e) { self(self, e, left - 1); }, [&](auto e) { self(self, e, left - 1); });
        told_counters::touch(100, 10);
        heist::scope s{d};
        s.fork([&] { told_counters::touch(10, 10); });
        s.fork([&](auto e) { self(self, e, 0); });
        s.join();
        told_counters::touch(1, 10);
      };
      task(task, c, 3);
    });
    auto const& p = r.profile();
    // Inner tasks 1 + 2 + 4, each with two children of its scope; 8 at the bottom.
    REQUIRE(p.size() == 7 * 3 + 8);
    CHECK(p[0].own_bytes == 1101 * line);
    std::uint64_t sum = 0;
    int inner = 0, small = 0, bottom = 0;
    for (std::uint32_t i = 0; i < p.size(); ++i) {
      sum += p[i].own_bytes;
      inner += p[i].own_bytes == 1101 * line;
      bottom += p[i].own_bytes == 1000 * line;
      small += p[i].own_bytes == 10 * line;
    }
    CHECK(inner == 7);
    CHECK(small == 7);
    CHECK(bottom == 8 + 7);
    CHECK(p[0].soid_bytes == sum);
    // The root's children: two forks, then two of its scope.
    for (std::uint32_t k = 0; k < 4; ++k) CHECK(p.lookup(0, k) != heist::region_profile::no_entry);
    CHECK(p.lookup(0, 4) == heist::region_profile::no_entry);
    CHECK(p[p.lookup(0, 2)].own_bytes == 10 * line);
  }
}

TEST_CASE("CATS: declared footprints, where counters are refused or count nothing", "[fork]") {
  auto const check = [](auto& ex, char const* why) {
    heist_test::watchdog guard{ex, 60s};
    region r;
    auto const run = [&] { return ex.invoke(r, [](heist::context c) { return tree(c, 5, leaf_does::declares); }); };
    for (int i = 0; i < 4; ++i) CHECK(run() == 32);
    CHECK(r.profile().source() == profile_source::footprint);
    CHECK(has(r.profile().source_note(), why));
    CHECK(has(r.profile().source_note(), "the tasks declared what they touch"));
    check_tree_of_5(r);
  };
  heist::executor<rejected> without{heist_test::two_by_two()};
  check(without, "refused by a test (EACCES)");
  heist::executor<counted> zeros{heist_test::two_by_two()};
  check(zeros, "the hardware counted nothing");
}

TEST_CASE("CATS: a region's bytes, spread as its time is", "[fork]") {
  heist::executor<rejected> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  region r{{.bytes = std::size_t{1} << 40}};  // so many that no task is taken to be CPU-bound
  for (int i = 0; i < 3; ++i) CHECK(ex.invoke(r, [](auto c) { return tree(c, 5, leaf_does::nothing); }) == 32);
  INFO(r.profile().text());
  CHECK(r.profile().source() == profile_source::time);
  CHECK(r.profile().decision() == profile_decision::two_tiers);
  CHECK(r.profile()[0].soid_bytes == std::uint64_t{1} << 40);
  CHECK(has(r.profile().source_note(), "spread over the tasks as their time is"));
}

TEST_CASE("CATS: nothing to go by is traditional stealing, with a sentence", "[fork]") {
  heist::executor<rejected> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  region r;
  for (int i = 0; i < 3; ++i) {
    CHECK(ex.invoke(r, [](auto c) { return tree(c, 5, leaf_does::nothing); }) == 32);
    INFO(r.explain());
    CHECK(has(r.explain(), "traditional stealing because nothing could be measured"));
    CHECK(has(r.explain(), "ctx.footprint"));
  }
  CHECK(r.profile().decision() == profile_decision::nothing_measured);
  CHECK(r.profile().source() == profile_source::none);
}

TEST_CASE("CATS: CPU-bound programs, and such as do not divide, are left to traditional stealing", "[fork]") {
  heist::executor<counted> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  region cpu;
  for (int i = 0; i < 3; ++i) {
    CHECK(ex.invoke(cpu, [](auto c) { return tree(c, 5, leaf_does::computes); }) == 32);
    CHECK(has(cpu.explain(), "traditional stealing because 32 of 32 tasks at the bottom of the tree are CPU-bound"));
  }
  CHECK(cpu.profile().decision() == profile_decision::cpu_bound);

  region flat;
  for (int i = 0; i < 3; ++i) {
    CHECK(ex.invoke(flat, [](auto c) {
      std::atomic<int> n{0};
      heist::scope s{c};
      for (int k = 0; k < 50; ++k) {
        s.fork([&] {
          told_counters::touch(10'000, 10'000);
          ++n;
        });
      }
      s.join();
      return n.load();
    }) == 50);
    CHECK(has(flat.explain(), "not divide-and-conquer"));
  }
  CHECK(flat.profile().decision() == profile_decision::not_divide_and_conquer);
  CHECK(flat.profile().size() == 51);

  region one_task;
  for (int i = 0; i < 3; ++i) CHECK(ex.invoke(one_task, [](auto) { return 5; }) == 5);
  CHECK(has(one_task.explain(), "traditional stealing"));
}

TEST_CASE("CATS: another shape is noticed, and profiled in the next run", "[fork]") {
  heist::executor<counted> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  region r;
  auto const run = [&](int depth, int branching) {
    return ex.invoke(r, [=](auto c) { return tree(c, depth, leaf_does::misses, branching); });
  };
  for (int round = 0; round < (slow ? 2 : 10); ++round) {
    CHECK(run(5, 2) == 32);
    CHECK(run(5, 2) == 32);
    check_tree_of_5(r);
    CHECK(run(4, 3) == 81);
    CHECK(has(r.explain(), "the tasks were not those of the profiled run"));
    CHECK(run(4, 3) == 81);
    CHECK(has(r.explain(), "profiled 121 tasks: two tiers"));
    CHECK(run(4, 3) == 81);
    CHECK(has(r.explain(), "two tiers"));
    CHECK_FALSE(has(r.explain(), "profiled"));
    r.reprofile();
    CHECK(run(5, 2) == 32);
    CHECK(has(r.explain(), "profiled 63 tasks"));
    r.reprofile();
    CHECK(all_free(ex));
  }
}

TEST_CASE("CATS: of a run that an exception ends nothing is learnt", "[fork]") {
  heist::executor<counted> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  region r;
  CHECK_THROWS_AS(ex.invoke(r,
                            [](auto c) -> int {
                              tree(c, 3, leaf_does::misses);
                              throw 1;
                            }),
                  int);
  CHECK(r.profile().empty());
  CHECK(ex.invoke(r, [](auto c) { return tree(c, 5, leaf_does::misses); }) == 32);
  CHECK(has(r.explain(), "profiled 63 tasks"));
  // In a divided run the profile stays.
  CHECK_THROWS_AS(ex.invoke(r,
                            [](auto c) -> int {
                              tree(c, 5, leaf_does::misses);
                              throw 1;
                            }),
                  int);
  CHECK(all_free(ex));
  CHECK(ex.invoke(r, [](auto c) { return tree(c, 5, leaf_does::misses); }) == 32);
  check_tree_of_5(r);
}

TEST_CASE("CATS: a region's profile as text and JSON, and back", "[fork]") {
  heist::executor<counted> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  region r;
  auto const body = [](auto c) { return tree(c, 5, leaf_does::misses); };
  CHECK(ex.invoke(r, body) == 32);
  std::string const text = r.profile().text();
  CHECK(has(text, "two tiers: 8 leaf inter-squad tasks"));
  CHECK(has(text, "squads: 2, shared cache of each: 1"));
  CHECK(has(text, "leaf inter-squad, 6 intra-squad below"));
  std::string const json = r.to_json();

  region other;
  other.from_json(json);
  CHECK(other.profile() == r.profile());
  CHECK(ex.invoke(other, body) == 32);
  CHECK_FALSE(has(other.explain(), "profiled"));  // it was not, again
  CHECK(has(other.explain(), "two tiers: 8 leaf inter-squad tasks"));
  CHECK(other.to_json() == json);

  // Another machine: dropped, and said.
  heist::executor<counted> larger{heist_test::four_by_four()};
  CHECK(larger.invoke(other, body) == 32);
  INFO(other.explain());
  CHECK(has(other.explain(), "the profile was made for a machine with other squads"));
  CHECK(has(other.explain(), "profiled 63 tasks"));
  CHECK(other.profile().made_for(4, mib));
  CHECK(larger.invoke(other, body) == 32);
  CHECK(has(other.explain(), "two tiers"));
  // And back.
  CHECK(ex.invoke(other, body) == 32);
  CHECK(has(other.explain(), "other squads"));

  for (std::size_t cut = 0; cut < json.size() - 2; cut += 97)
    CHECK_THROWS_AS(other.from_json(json.substr(0, cut)), heist::region_error);
  std::string later = json;
  later.replace(later.find("\"version\": 1"), 12, "\"version\": 9");
  CHECK_THROWS_AS(other.from_json(later), heist::region_error);
  CHECK(other.profile().made_for(2, mib));  // what it had
  CHECK(ex.invoke(other, body) == 32);
}

TEST_CASE("CATS: more tasks than are recorded", "[fork]") {
  heist::executor<counted> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  region r;
  for (int i = 0; i < 2; ++i) CHECK(ex.invoke(r, [](auto c) { return tree(c, 16, leaf_does::misses); }) == 1 << 16);
  CHECK(r.profile().size() == 1 << 16);
  CHECK(r.profile()[0].soid_bytes <= (std::uint64_t{1} << 16) * 256 * kib);
  CHECK(r.profile()[0].soid_bytes >= (std::uint64_t{1} << 16) * 256 * kib / 4);
}

TEST_CASE("CATS: this machine's own counters, or what they refuse", "[fork]") {
  heist::executor<heist::policy::cats> ex{heist_test::two_by_two()};
  heist_test::watchdog guard{ex, 60s};
  region r;
  for (int i = 0; i < 3; ++i) CHECK(ex.invoke(r, [](auto c) { return tree(c, 5, leaf_does::declares); }) == 32);
  INFO(r.profile().text());
  CHECK(r.profile().size() == 63);
  CHECK_FALSE(r.profile().source_note().empty());
  CHECK(r.profile().source() != profile_source::none);
  CHECK(works(ex));
}
