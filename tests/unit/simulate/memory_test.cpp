// heist/tools/simulate/memory.hpp: which touches hit, in which memory, and at which cost.
#include "heist/tools/simulate/memory.hpp"

#include <cstdint>
#include <utility>  // move
#include <vector>

#include "support/catch.hpp"
#include "unit/simulate/policies.hpp"

using namespace heist_test;

namespace {

/// Touch i of the program: 1024 bytes at i * 1024, read; touch i + 4: the same, written.
sim::program four_parts() {
  sim::program_builder b("pieces");
  b.begin(b.add_tree());
  for (bool const writes : {false, true})
    for (std::uint64_t i = 0; i != 4; ++i) b.touch(i * 1024, 1024, writes);
  return b.finish();
}

/// Workers 0 and 1 share a cache, worker 2 has one for itself.
struct machine {
  explicit machine(sim::cache_sizes sizes, std::uint64_t block = 64) : machine{sizes, with_block(block)} {}
  machine(sim::cache_sizes sizes, sim::options wanted)
      : options{std::move(wanted)}, caches{p, options, sizes, squad_of, 2} {}

  /// Lines that worker `w` does not find in its own cache, in its squad's.
  std::uint64_t private_misses(std::uint32_t w, std::uint32_t touch) {
    auto const seen = access(w, touch);
    return seen.shared_hits + seen.memory;
  }
  std::uint64_t shared_misses(std::uint32_t w, std::uint32_t touch) { return access(w, touch).memory; }
  sim::cache_misses access(std::uint32_t w, std::uint32_t touch) {
    sim::cache_misses seen;
    cost = caches.access(w, touch, seen, random);
    return seen;
  }
  static sim::options with_block(std::uint64_t block) {
    sim::options o;
    o.caches.block_bytes = block;
    o.costs.private_hit = 1;
    o.costs.shared_hit = 10;
    o.costs.memory = 100;
    return o;
  }

  sim::program const p = four_parts();
  sim::options const options;
  std::vector<std::uint32_t> const squad_of{0, 0, 1};
  sim::memory caches;
  heist::fast_random random{1};
  sim::ticks cost = 0;
};

}  // namespace

TEST_CASE("memory: of this machine's caches 32 MiB count for each worker, of a described machine's all", "[sim]") {
  heist::topology::machine m = heist::topology::parse("l3:2(size=508MiB) core:1 pu:1");
  auto const squads = heist::topology::make_squads(m, heist::squad_by::l3, 2);
  REQUIRE(squads.members.size() == 2);
  CHECK(sim::cache_sizes_of({}, m, squads).of_squad == std::uint64_t{508} << 20);
  m.is_this_machine = true;
  CHECK(sim::cache_sizes_of({}, m, squads).of_squad == std::uint64_t{32} << 20);
  sim::options wanted;
  wanted.caches.shared_bytes = std::uint64_t{96} << 20;
  CHECK(sim::cache_sizes_of(wanted, m, squads).of_squad == std::uint64_t{96} << 20);
}

TEST_CASE("memory: what was read is in the worker's cache, its squad's, and no other", "[sim]") {
  machine m{{2048, 4096}};
  CHECK(m.access(0, 0) == sim::cache_misses{16, 0, 0, 16});
  CHECK(m.cost == 1600);
  CHECK(m.access(0, 0) == sim::cache_misses{16, 16, 0, 0});
  CHECK(m.cost == 16);
  CHECK(m.access(1, 0) == sim::cache_misses{16, 0, 16, 0});
  CHECK(m.cost == 160);
  CHECK(m.access(2, 0) == sim::cache_misses{16, 0, 0, 16});
}

TEST_CASE("memory: the least recently used is dropped", "[sim]") {
  machine m{{2048, 3072}};
  for (std::uint32_t const part : {0u, 1u, 2u}) m.access(0, part);
  CHECK(m.private_misses(0, 1) == 0);
  CHECK(m.access(0, 0) == sim::cache_misses{16, 0, 16, 0});
  m.access(0, 3);  // drops 1 from the squad's, which was last used there before 2 and 0
  CHECK(m.shared_misses(1, 2) == 0);
  CHECK(m.shared_misses(1, 1) == 16);
}

TEST_CASE("memory: a write makes copies elsewhere stale, and those of the writer fresh", "[sim]") {
  machine m{{4096, 4096}};
  for (std::uint32_t w = 0; w != 3; ++w) m.access(w, 0);
  m.access(0, 4);
  CHECK(m.private_misses(0, 0) == 0);
  CHECK(m.access(1, 0) == sim::cache_misses{16, 0, 16, 0});
  CHECK(m.access(2, 0) == sim::cache_misses{16, 0, 0, 16});
  CHECK(m.private_misses(2, 0) == 0);
}

TEST_CASE("memory: larger blocks count the same lines", "[sim]") {
  machine small{{2048, 4096}, 64}, large{{2048, 4096}, 512};
  for (std::uint32_t const touch : {0u, 1u, 0u, 2u, 3u, 1u, 4u, 0u, 6u, 2u}) {
    for (std::uint32_t w = 0; w != 3; ++w) CHECK(small.access(w, touch) == large.access(w, touch));
    CHECK(small.cost == large.cost);
  }
}

TEST_CASE("memory: without caches everything comes from memory", "[sim]") {
  machine m{{0, 0}};
  for (int i = 0; i != 2; ++i) CHECK(m.shared_misses(0, 0) == 16);
}

TEST_CASE("memory: what others have touched last is a transfer, what a cache has dropped is not", "[sim]") {
  sim::options o = machine::with_block(64);
  o.costs.transfer = 1000;
  machine m{{1024, 2048}, o};
  CHECK(m.access(0, 4) == sim::cache_misses{16, 0, 0, 16});  // no worker's until now: from memory
  CHECK(m.cost == 16 * 100);
  CHECK(m.access(2, 0) == sim::cache_misses{16, 0, 0, 16, 0, 16});
  CHECK(m.cost == 16 * 1000);
  CHECK(m.access(2, 0) == sim::cache_misses{16, 16});
  CHECK(m.access(1, 4) == sim::cache_misses{16, 0, 16});  // the other worker's squad still has it, and writes:
  CHECK(m.cost == 16 * (10 + 1000));                      // the copy that 2 has read must go
  CHECK(m.access(1, 4) == sim::cache_misses{16, 16});
  CHECK(m.cost == 16);
  CHECK(m.access(2, 0) == sim::cache_misses{16, 0, 0, 16, 0, 16});
  for (std::uint32_t const other : {1u, 2u, 3u}) m.access(2, other);
  CHECK(m.access(2, 0) == sim::cache_misses{16, 0, 0, 16});  // dropped by its own side
  CHECK(m.cost == 16 * 100);
  CHECK(m.access(2, 0).near_memory() == 0);
}

TEST_CASE("memory: where squads share no cache, another worker is another side", "[sim]") {
  sim::options o = machine::with_block(64);
  o.costs.transfer = 1000;
  machine m{{1024, 0}, o};
  m.access(0, 4);
  CHECK(m.access(1, 0).switch_count == 16);
  machine without{{1024, 0}};
  without.access(0, 4);
  CHECK(without.access(1, 0) == sim::cache_misses{16, 0, 0, 16});
  CHECK(without.cost == 16 * 100);
}

TEST_CASE("memory: sizes come from the machine unless they are given", "[sim]") {
  auto const m = four_sockets();
  auto const s = heist::topology::make_squads(m, heist::squad_by::package, 16);
  sim::options wanted;
  CHECK(sim::cache_sizes_of(wanted, m, s).of_worker == 512 * 1024);
  CHECK(sim::cache_sizes_of(wanted, m, s).of_squad == 6 * 1024 * 1024);
  wanted.caches.private_bytes = 1000;
  wanted.caches.shared_bytes = 0;
  CHECK(sim::cache_sizes_of(wanted, m, s).of_worker == 1000);
  CHECK(sim::cache_sizes_of(wanted, m, s).of_squad == 0);
  wanted.caches.enabled = false;
  CHECK(sim::cache_sizes_of(wanted, m, s).of_worker == 0);
}

TEST_CASE("memory: lines may cost parts of a tick", "[sim]") {
  auto wanted = machine::with_block(64);
  wanted.costs.line_parts = 8;
  machine m{{1024, 4096}, wanted};
  m.access(0, 0);
  CHECK(m.cost == 16 * 100 / 8);
  m.access(1, 0);
  CHECK(m.cost == 16 * 10 / 8);
  m.access(1, 0);
  CHECK(m.cost == 16 / 8);
}

TEST_CASE("memory: blocks without sense are refused", "[sim]") {
  auto const p = sim::heat({.rows = 64, .columns = 64, .steps = 1});
  sim::options wanted{.machine = four_sockets()};
  wanted.caches.block_bytes = 0;
  CHECK_THROWS_AS(heist::simulate(p, wanted), heist::sim_error);
  wanted.caches.block_bytes = 1;
  CHECK(heist::simulate(p, wanted).tasks == p.tasks_run());
}

TEST_CASE("memory: the cache of a squad serves one worker after the other", "[sim]") {
  auto wanted = machine::with_block(64);
  wanted.caches.shared_bandwidth = 64 * 1000 / 20;  // a line in 20 ticks
  machine m{{0, 4096}, wanted};
  for (std::uint32_t const w : {0u, 1u}) {
    m.access(w, 0);
    CHECK(m.caches.waiting_time(w, 0, 0) == (w + 1) * 16 * 20);
  }
  m.access(2, 0);  // from its own squad's cache
  CHECK(m.caches.waiting_time(2, 0, 0) == 16 * 20);
  m.access(0, 0);
  CHECK(m.caches.waiting_time(0, 640, 500) == 500);  // the queue is empty again, and the accesses take longer
  m.access(0, 4);
  CHECK(m.caches.waiting_time(0, 2000, 0) == 2 * 16 * 20);  // written back later
  SECTION("but not what workers find in their own caches") {
    machine own{{2048, 4096}, wanted};
    own.access(0, 0);
    CHECK(own.caches.waiting_time(0, 0, 0) == 16 * 20);
    own.access(0, 0);
    CHECK(own.caches.waiting_time(0, 0, 7) == 7);
  }
}

TEST_CASE("memory: all squads share the bandwidth of the memory", "[sim]") {
  auto wanted = machine::with_block(64);
  wanted.caches.memory_bandwidth = 64 * 1000 / 20;
  machine m{{0, 4096}, wanted};
  m.access(0, 0);
  CHECK(m.caches.waiting_time(0, 0, 0) == 16 * 20);
  m.access(1, 0);  // in the squad's cache
  CHECK(m.caches.waiting_time(1, 0, 9) == 9);
  m.access(2, 0);
  CHECK(m.caches.waiting_time(2, 0, 9) == 2 * 16 * 20);
}

TEST_CASE("memory: a limit to bandwidth makes a memory-bound run longer", "[sim]") {
  auto const p = sim::heat({.rows = 400, .columns = 256, .steps = 4, .leaf_rows = 8});
  sim::options wanted{.workers = 4, .machine = heist::topology::parse("package:2 l3:1 core:2 pu:1")};
  wanted.caches.private_bytes = 4096;
  wanted.caches.shared_bytes = 64 * 1024;
  auto const free = heist::simulate(p, wanted);
  wanted.caches.shared_bandwidth = wanted.caches.memory_bandwidth = std::uint64_t{1} << 40;
  CHECK(heist::simulate(p, wanted) == free);
  wanted.caches.memory_bandwidth = 2000;
  auto const memory = heist::simulate(p, wanted);
  CHECK(memory.makespan > free.makespan);
  // All lines from memory came through its queue.
  CHECK(memory.makespan >= memory.cache.memory * 64 * 1000 / 2000);
  wanted.caches.memory_bandwidth = 0;
  wanted.caches.shared_bandwidth = 1000;
  CHECK(heist::simulate(p, wanted).makespan > free.makespan);
}
