// heist/core/topology/machine.hpp, synthetic.hpp: descriptions in one line.
#include "heist/core/topology/machine.hpp"
#include "heist/core/topology/hwloc_machine.hpp"

#include <cstdlib>  // setenv
#include <random>
#include <string>
#include <vector>

#include "heist/core/base/errors.hpp"
#include "heist/core/topology/discover.hpp"
#include "heist/core/topology/synthetic.hpp"
#include "support/catch.hpp"

namespace {

namespace topology = heist::topology;

std::string why_not(std::string const& text) {
  try {
    topology::parse(text);
  } catch (heist::topology_error const& e) {
    return e.what();
  }
  return "";
}

/// The machine that hwloc makes of a description.
topology::machine by_hwloc(std::string const& text) {
  topology::detail::hwloc_handle const hwloc;
  REQUIRE(hwloc);
  REQUIRE(hwloc_topology_set_synthetic(hwloc.get(), text.c_str()) == 0);
  REQUIRE(hwloc_topology_load(hwloc.get()) == 0);
  return topology::detail::machine_builder(hwloc.get()).build();
}

}  // namespace

TEST_CASE("parse_counts_every_level") {
  auto const m = topology::parse("package:2 l3:2 l2:2 core:2 pu:2");
  CHECK(m.package_count() == 2);
  CHECK(m.l3_count() == 4);
  CHECK(m.l2_count() == 8);
  CHECK(m.core_count() == 16);
  CHECK(m.pu_count() == 32);
  CHECK(m.numa_count() == 1);
  CHECK_FALSE(m.is_this_machine);
  CHECK(m.numa_distances.empty());
  CHECK(m.pus[0] == topology::pu{0, 0, 0, 0, 0, 0});
  CHECK(m.pus[31] == topology::pu{31, 15, 7, 3, 0, 1});
  CHECK(m == topology::parse("PACKAGE:2  L3Cache:2\tl2:2 Core:2 PU:2 "));
  CHECK(m != topology::parse("package:2 l3:2 l2:2 core:2 pu:1"));
}

TEST_CASE("parse_leaves_out_levels_that_are_not_named") {
  auto const m = topology::parse("package:4 core:4 pu:1");
  CHECK(m.l3_count() == 0);
  CHECK(m.l2_count() == 0);
  CHECK(m.l3_bytes == 0);
  CHECK(m.pus[5].l3 == -1);
  CHECK(m.core_count() == 16);
  auto const flat = topology::parse("pu:3");
  CHECK(flat.core_count() == 3);
  CHECK(flat.package_count() == 0);
}

TEST_CASE("parse_reads_sizes_and_attached_memory") {
  auto const m = topology::parse("package:2 [numa(memory=4GB)] l3:1(size=32MiB) l2:2(size=1024KiB) core:2 pu:1");
  CHECK(m.numa_count() == 2);
  CHECK(m.l3_bytes == 32u << 20);
  CHECK(m.l2_bytes == 1u << 20);
  CHECK(topology::parse("l3:1(size=33554432 indexes=7) pu:2").l3_bytes == 32u << 20);
}

TEST_CASE("parse_agrees_with_hwloc") {
  for (auto const* text : {"2",
                           "4 2",
                           "2 4 2",
                           "2 2 4 2",
                           "2 2 2 2 2",
                           "2 2 2 2 2 2",
                           "2 2 1 2 1 2 2",
                           "1 2 1 2 1 2 1 2",
                           "1 1 2 1 2 1 2 1 2",
                           "[numa] 2 4 2",
                           "(memory=1GB) 2 [numa] 4 2",
                           "pu:5",
                           "core:3 pu:2",
                           "package:2 l3:1 core:4 pu:1",
                           "numa:2 l2:4 core:2 pu:2",
                           "pack:2 [no] [nu] l3:2 co:2 pu:2",
                           "socket:2 die:2 [numa] L3:1(size=8MB) L2d:2 l1:1 L1i:1 core:2 pu:2",
                           "Group2:2 group:2 core:2 pu:1",
                           "package:2 numa:2 core:2 pu:1",
                           "numa:2 package:2 core:1 pu:1",
                           "Tile:4 core:2 pu:1",
                           "l5:2 l4:2 l3:2(size=10000) core:1 pu:3",
                           "package:8 l3:1 core:10 pu:2"}) {
    INFO(text);
    CHECK(topology::parse(text) == by_hwloc(text));
  }
}

TEST_CASE("parse_says_what_is_wrong") {
  struct {
    char const* text;
    char const* why;
  } const bad[] = {
      {"", "no level"},
      {" \n", "no level"},
      {"package:2 cors:4 pu:1", "\"cors\" is not a level"},
      {"machine:1 pu:2", "\"machine\" is not a level"},
      {"l9:1 pu:1", "\"l9\" is not a level"},
      {"core:0 pu:2", "0 instances"},
      {"core:-1 pu:2", "\"-1\" is not a number"},
      {"core: pu:2", "\"\" is not a number"},
      {"core pu:2", "not of the form name:count"},
      {"core:2x pu:2", "\"x\" is in the way"},
      {"core:2", "the last level is not pu"},
      {"pu:2 core:2", "below pu"},
      {"core:2 core:2 pu:2", "twice"},
      {"core:2 package:2 pu:2", "inside a smaller one"},
      {"l2:2 l3:2 pu:2", "inside a smaller one"},
      {"package:2 4 pu:2", "some have none"},
      {"l3:2(size=big) pu:1", "\"big\" is not a size"},
      {"l3:2(sise=1MB) pu:1", "not an attribute"},
      {"l3:2(size=1MB pu:1", "not closed"},
      {"[core] pu:2", "not a NUMA node"},
      {"numa:2 [numa] pu:2", "also attached"},
      {"package:2 [numa", "not a NUMA node"},
      {"pu:65537", "more than 65536 PUs"},
      {"package:65536 core:65536 pu:65536", "more than 65536 PUs"},
      {"core:99999999999999999999999999 pu:1", "more than 65536 PUs"},
  };
  for (auto const& b : bad) {
    auto const message = why_not(b.text);
    INFO("\"" << b.text << "\" -> " << message);
    CHECK(message.find(b.why) != std::string::npos);
    CHECK(message.find("\"package:2 l3:1 core:4 pu:2\"") != std::string::npos);
  }
  CHECK(why_not("package:2 cors:4").find("\"package:2 cors:4\"") != std::string::npos);
  CHECK(why_not("garbage:\x01\xff").find("garbage:??") != std::string::npos);
  CHECK(topology::parse("pu:65536").pu_count() == 65536);
}

TEST_CASE("parse_survives_garbage") {
  std::mt19937 random(7);
  std::string const letters = "package:2 l3:1(size=32MiB) [numa] core:4 pu:2 0123456789:()[]= l2 9999999999 x\n\t\xff";
  std::string const seed = "package:2 [numa(memory=1GB)] l3:2(size=32MiB) core:2 pu:2(indexes=0,1)";
  int read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = seed;
    for (auto n = 1 + random() % 4; n > 0 && !text.empty(); --n) {
      auto const at = random() % text.size();
      if (random() % 2 == 0)
        text[at] = letters[random() % letters.size()];
      else
        text.erase(at, 1 + random() % 5);
    }
    try {
      auto const m = topology::parse(text);
      ++read;
      if (m.pu_count() == 0 || m.core_count() == 0 || m.is_this_machine) FAIL(text);
    } catch (heist::topology_error const&) {
    }
  }
  CHECK(read > 0);
}

TEST_CASE("parse_does_not_heed_the_environment") {
  ::setenv("HWLOC_SYNTHETIC", "package:3 core:2 pu:1", 1);
  ::setenv("HWLOC_THISSYSTEM", "1", 1);
  auto const m = topology::parse("package:2 core:4 pu:1");
  ::unsetenv("HWLOC_SYNTHETIC");
  ::unsetenv("HWLOC_THISSYSTEM");
  CHECK(m.package_count() == 2);
  CHECK_FALSE(m.is_this_machine);
}

TEST_CASE("describe_is_one_line_for_people") {
  CHECK(topology::parse("package:2 l3:1(size=32MiB) l2:4(size=512KiB) core:1 pu:2").to_text() ==
        "2 packages, 1 NUMA node, 2 L3 (32 MiB), 8 L2 (512 KiB), 8 cores, 16 PUs, not this machine");
  CHECK(topology::machine{}.to_text() == "no PUs, not this machine");
}

TEST_CASE("numa_distance_is_0_where_nothing_is_known") {
  auto m = topology::parse("numa:2 core:2 pu:1");
  CHECK(m.numa_distance(0, 1) == 0);
  m.numa_distances = {10, 21, 20, 10};
  CHECK(m.numa_distance(0, 1) == 21);
  CHECK(m.numa_distance(1, 0) == 20);
  CHECK(m.numa_distance(0, 2) == 0);
}
