// heist/tools/simulate/streams.hpp: the measured streams have all figures, and options get the costs from them. No test
// judges a measured figure.
#include "heist/tools/simulate/streams.hpp"

#include <heist/topology.hpp>

#include <cstddef>  // size_t
#include <cstdint>  // int32_t
#include <utility>  // move

#include "support/catch.hpp"
#include "unit/simulate/policies.hpp"

using namespace heist_test;

namespace {

/// Small caches, so that all arrays are small.
sim::options small_caches(heist::topology::machine m) {
  sim::options o{.machine = std::move(m)};
  o.caches.private_bytes = 32 << 10;
  o.caches.shared_bytes = 128 << 10;
  return o;
}

constexpr sim::streams example{.private_line = 0.5,
                               .shared_line = 0.75,
                               .memory_line = 2.5,
                               .transfer_line = 0,
                               .far_line = 0,
                               .shared_bandwidth = 90'000,
                               .memory_bandwidth = 40'000,
                               .link_bandwidth = 0};

}  // namespace

TEST_CASE("streams: a machine with one node has lines and bandwidths", "[sim]") {
  auto m = heist::topology::this_machine();
  for (auto& pu : m.pus) pu.numa = 0;
  auto const s = sim::measure_streams(small_caches(m), 1 << 20);
  CHECK(s.private_line > 0);
  CHECK(s.shared_line > 0);
  CHECK(s.memory_line > 0);
  CHECK(s.shared_bandwidth >= 0);
  CHECK(s.memory_bandwidth >= 0);
  CHECK(s.far_line == 0);
  CHECK(s.link_bandwidth == 0);
}

TEST_CASE("streams: a squad of each core passes lines on, a node of each core far ones", "[sim]") {
  auto m = heist::topology::this_machine();
  if (m.pus.size() < 2) {
    WARN("this machine has one processor");
    return;
  }
  for (std::size_t i = 0; i != m.pus.size(); ++i) m.pus[i].core = m.pus[i].numa = static_cast<std::int32_t>(i);
  auto wanted = small_caches(m);
  wanted.squads = heist::squad_by::core;
  auto const s = sim::measure_streams(wanted, 1 << 20);
  CHECK(s.transfer_line > 0);
  CHECK(s.far_line > 0);
  CHECK(s.link_bandwidth >= 0);
}

TEST_CASE("streams: caches of no size leave memory alone", "[sim]") {
  auto wanted = small_caches(heist::topology::this_machine());
  wanted.caches.private_bytes = wanted.caches.shared_bytes = 0;
  wanted.workers = 1;
  auto const s = sim::measure_streams(wanted, 1 << 20);
  CHECK(s.shared_line == s.private_line);
  CHECK(s.shared_bandwidth == 0);
  CHECK(s.memory_bandwidth == 0);
}

TEST_CASE("streams: only cores that slow each other down show a limit", "[sim]") {
  CHECK(sim::detail::limit_of(4, 2, 2) == 0);
  CHECK(sim::detail::limit_of(4, 1, 2) == 0);
  CHECK(sim::detail::limit_of(4, 4, 2) == 64'000);
}

TEST_CASE("streams: another machine has none here", "[sim]") {
  sim::options const wanted{.machine = heist::topology::parse("package:2 core:4 pu:1")};
  CHECK_THROWS_AS(sim::measure_streams(wanted), heist::sim_error);
}

TEST_CASE("streams: lines cost what they take beyond the worker's own cache", "[sim]") {
  sim::options o;
  o.costs.transfer = 5;
  sim::set_memory(o, example);
  CHECK(o.costs.line_parts == 1000);
  CHECK(o.costs.private_hit == 0);
  CHECK(o.costs.shared_hit == 250);
  CHECK(o.costs.memory == 2000);
  CHECK(!o.costs.transfer);
  CHECK(o.caches.shared_bandwidth == 90'000);
  CHECK(o.caches.memory_bandwidth == 40'000);
  CHECK(o.numa.pages == sim::page_placement::ignored);
}

TEST_CASE("streams: with far memory pages are where they are touched first", "[sim]") {
  auto two_nodes = example;
  two_nodes.transfer_line = 0.25;  // faster than the own cache: noise
  two_nodes.far_line = 4;
  two_nodes.link_bandwidth = 10'000;
  sim::options o;
  sim::set_memory(o, two_nodes);
  CHECK(o.costs.transfer == sim::duration{0});
  CHECK(o.costs.far_memory == 3500);
  CHECK(o.numa.pages == sim::page_placement::first_touch);
  CHECK(o.numa.node_bandwidth == 40'000);
  CHECK(o.numa.link_bandwidth == 10'000);
}
