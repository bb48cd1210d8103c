// heist/tools/simulate/numa_nodes.hpp: which memory pages are in, and what near and far memory cost.
#include <cstdint>
#include <utility>  // move
#include <vector>

#include "support/catch.hpp"
#include "unit/simulate/policies.hpp"

using namespace heist_test;

namespace {

constexpr std::uint64_t page = 4096;

/// Two nodes of two cores, without caches.
sim::options two_nodes(sim::page_placement pages) {
  sim::options o{.workers = 4, .machine = heist::topology::parse("numa:2 core:2 pu:1")};
  o.caches.private_bytes = 0;
  o.caches.shared_bytes = 0;
  o.costs = sim::costs::nothing();
  o.costs.memory = 1;
  o.costs.far_memory = 3;
  o.numa.pages = pages;
  return o;
}

/// As many leaves as workers, each of which touches its own `pages` pages. There is a run for each of `orders`, in
/// which leaf i touches the pages of leaf order[i].
sim::program leaves(std::uint64_t pages, std::vector<std::vector<std::uint32_t>> const& orders, bool writes = false) {
  sim::program_builder b("pages");
  for (auto const& order : orders) {
    b.begin(b.add_tree());
    std::uint32_t const first = b.fork(static_cast<std::uint32_t>(order.size()));
    for (std::uint32_t i = 0; i != order.size(); ++i) {
      b.begin(first + i);
      b.touch(order[i] * pages * page, pages * page, writes);
      b.work(1'000'000);
    }
  }
  return b.finish();
}

/// Leaf i on worker i.
heist::steal_tree leaf_by_leaf(std::uint32_t workers) {
  std::vector<heist::steal_tree::steal> steals;
  for (std::uint32_t i = 0; i + 1 < workers; ++i) steals.push_back({{i}, i + 1, i, 0});
  return {workers, 0, std::move(steals)};
}

sim::report in_place(sim::program const& p, sim::options wanted) {
  auto const tree = leaf_by_leaf(wanted.workers);
  wanted.follow = &tree;
  wanted.mode = heist::replay_mode::strict_ordered;
  return heist::simulate<policy::replay>(p, wanted);
}

constexpr std::uint64_t lines = 2 * page / 64;  // of a leaf of two pages

}  // namespace

TEST_CASE("numa: pages are where the worker is that touches them first", "[sim]") {
  auto const r = in_place(leaves(2, {{0, 1, 2, 3}}), two_nodes(sim::page_placement::first_touch));
  REQUIRE(r.node_map);
  REQUIRE(r.node_map->nodes.size() == 8);
  for (std::uint64_t i = 0; i != 8; ++i) CHECK(r.node_map->node_of(i * page + 100) == (i < 4 ? 0 : 1));
  CHECK(r.node_map->node_of(8 * page) == sim::page_node_map::no_place);
  CHECK(r.cache.memory == 4 * lines);
  CHECK(r.cache.far_memory == 0);
  CHECK(r.time.memory == 4 * lines);
}

TEST_CASE("numa: memory of another node costs more, and is counted", "[sim]") {
  auto const r = in_place(leaves(2, {{0, 1, 2, 3}, {2, 1, 0, 3}}), two_nodes(sim::page_placement::first_touch));
  CHECK(r.cache.memory == 8 * lines);
  CHECK(r.cache.far_memory == 2 * lines);
  CHECK(r.cache.near_memory() == 6 * lines);
  CHECK(r.time.memory == (6 + 2 * 3) * lines);
  CHECK(r.per_worker[0].cache.far_memory == lines);
  CHECK(r.per_worker[1].cache.far_memory == 0);
  CHECK(r.text().find("other nodes") != std::string::npos);
}

TEST_CASE("numa: interleaved pages are on one node after the other", "[sim]") {
  auto const r = in_place(leaves(2, {{0, 1, 2, 3}}), two_nodes(sim::page_placement::interleaved));
  for (std::uint64_t i = 0; i != 8; ++i) CHECK(r.node_map->node_of(i * page) == i % 2);
  CHECK(r.cache.far_memory == 2 * lines);
}

TEST_CASE("numa: the homes of one simulation are those of the next", "[sim]") {
  auto wanted = two_nodes(sim::page_placement::first_touch);
  auto const first = in_place(leaves(2, {{0, 1, 2, 3}}), wanted);
  wanted.numa.node_map = &*first.node_map;
  auto const second = in_place(leaves(2, {{2, 3, 0, 1}}), wanted);
  CHECK(second.cache.far_memory == 4 * lines);
  CHECK(second.node_map == first.node_map);
  auto const more = in_place(leaves(2, {{0, 1, 2, 3, 4}}), wanted);  // leaf 4 is new, on worker 3
  CHECK(more.node_map->node_of(9 * page) == 1);
  wanted.numa.page_bytes = 8192;
  CHECK_THROWS_AS(in_place(leaves(2, {{0, 1, 2, 3}}), wanted), heist::sim_error);
}

TEST_CASE("numa: the memory of a node serves one worker after the other", "[sim]") {
  auto wanted = two_nodes(sim::page_placement::first_touch);
  wanted.numa.node_bandwidth = 64 * 1000 / 4;  // a line in four ticks, where one worker alone fetches one in a tick
  auto const r = in_place(leaves(2, {{0, 1, 2, 3}}), wanted);
  CHECK(r.per_worker[0].time.memory == 4 * lines);
  CHECK(r.per_worker[1].time.memory == 8 * lines);
  CHECK(r.per_worker[2].time.memory == 4 * lines);
  CHECK(r.per_worker[3].time.memory == 8 * lines);
  wanted.numa.node_bandwidth = 64 * 1000;  // enough for one
  auto const enough = in_place(leaves(2, {{0, 1, 2, 3}}), wanted);
  CHECK(enough.per_worker[0].time.memory == lines);
  CHECK(enough.per_worker[1].time.memory == 2 * lines);
  SECTION("lines that are written are served twice") {
    auto const written = in_place(leaves(2, {{0, 1, 2, 3}}, true), wanted);
    CHECK(written.per_worker[0].time.memory == 2 * lines);
    CHECK(written.per_worker[1].time.memory == 4 * lines);
  }
}

TEST_CASE("numa: so do the links between nodes", "[sim]") {
  auto wanted = two_nodes(sim::page_placement::first_touch);
  wanted.numa.link_bandwidth = 64 * 1000 / 10;
  auto const r = in_place(leaves(2, {{0, 1, 2, 3}, {2, 1, 0, 3}}), wanted);
  CHECK(r.per_worker[0].time.memory == lines + 10 * lines);
  CHECK(r.per_worker[1].time.memory == 2 * lines);
  CHECK(r.per_worker[2].time.memory == lines + 10 * lines);
}

TEST_CASE("numa: what comes from several nodes shares the link into one", "[sim]") {
  sim::options wanted = two_nodes(sim::page_placement::first_touch);
  wanted.machine = heist::topology::parse("numa:4 core:2 pu:1");
  wanted.workers = 8;
  wanted.numa.link_bandwidth = 64 * 1000 / 10;
  std::vector<std::uint32_t> const own{0, 1, 2, 3, 4, 5, 6, 7};
  // Workers 0 and 1, of node 0, read pages of nodes 1 and 2.
  auto const r = in_place(leaves(2, {own, {2, 4, 0, 3, 1, 5, 6, 7}}), wanted);
  CHECK(r.per_worker[0].time.memory == lines + 10 * lines);
  CHECK(r.per_worker[1].time.memory == lines + 20 * lines);
  CHECK(r.per_worker[3].time.memory == 2 * lines);
}

TEST_CASE("numa: without it a simulation is what it was", "[sim]") {
  auto const p = sim::heat({.rows = 200, .columns = 64, .steps = 6, .leaf_rows = 8});
  auto wanted = two_nodes(sim::page_placement::ignored);
  auto const r = heist::simulate(p, wanted);
  CHECK_FALSE(r.node_map);
  CHECK(r.cache.far_memory == 0);
  wanted.numa.node_bandwidth = 1;
  wanted.costs.far_memory = 1000;
  CHECK(heist::simulate(p, wanted) == r);
}

TEST_CASE("numa: pages that blocks do not divide are refused", "[sim]") {
  auto wanted = two_nodes(sim::page_placement::first_touch);
  wanted.caches.block_bytes = 8192;
  CHECK_THROWS_AS(heist::simulate(leaves(1, {{0}}), wanted), heist::sim_error);
  wanted.numa.page_bytes = 0;
  CHECK_THROWS_AS(heist::simulate(leaves(1, {{0}}), wanted), heist::sim_error);
}
