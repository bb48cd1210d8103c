// The machine of the paper on constrained work stealing, and its heat program.
#pragma once

#include <heist/policy.hpp>
#include <heist/simulate.hpp>
#include <heist/topology.hpp>

#include <cstddef>  // size_t
#include <cstdint>
#include <string_view>
#include <utility>  // move
#include <vector>

namespace papers::e7_8860 {

/// The plate, its blocks and the caches are this many times smaller than the paper's.
inline constexpr std::uint64_t scale = 64;

/// Eight E7-8860 at 2.27 GHz. Each has ten cores with 256 KiB of L2 each, a shared L3 of 24 MiB, and its own memory.
/// The caches of the description are `scale` times smaller.
inline constexpr std::string_view description = "package:8 [numa] l3:1(size=384KiB) l2:10(size=4KiB) core:1 pu:1";

/// Cilk keeps all workers awake.
using cilk = heist::policy::with_idle<heist::policy::replay, heist::idle::spinning>;

/// Costs in nanoseconds. The page constrained.md, "Fig. 4", has their sources.
inline heist::sim::costs costs() {
  heist::sim::costs c;
  c.shared_hit = 3;
  c.memory = 14;
  c.far_memory = 23;
  return c;
}
inline constexpr std::uint64_t node_bandwidth = 19'000, link_bandwidth = 6'500;  // MB/s
inline constexpr double ticks_per_element = 2.2;

/// The size of a plate for five-point heat, in blocks of 8 rows and 1024 columns.
struct plate {
  std::uint32_t block_rows = 512, block_columns = 4;

  std::uint32_t blocks() const { return block_rows * block_columns; }
};

/// Two arrays. A binary tree divides their blocks, row by row; its leaves are single blocks. For blocks placed by hand
/// the tree first halves the workers, and divides the blocks in proportion. It then halves the blocks of each worker.
class heat {
 public:
  explicit heat(plate const& p, std::uint32_t workers = 1) : plate_{p}, workers_{workers} {}

  /// Two steps. Each reads one array and writes the other.
  heist::sim::program steps() const {
    heist::sim::program_builder b{"heat"};
    for (std::uint64_t const from : {std::uint64_t{0}, std::uint64_t{1}}) {
      add_tree(b, [&](block const& k) {
        std::uint64_t const first = k.row == 0 ? 0 : k.row - 1;
        std::uint64_t const last = k.row + rows_of_block == rows() ? rows() : k.row + rows_of_block + 1;
        for (std::uint64_t r = first; r != last; ++r) touch(b, from, r, k.column, false);
        for (std::uint64_t r = k.row; r != k.row + rows_of_block; ++r) touch(b, 1 - from, r, k.column, true);
        b.work(static_cast<heist::sim::ticks>(ticks_per_element * rows_of_block * columns_of_block));
      });
    }
    return b.finish();
  }
  /// The program that first writes both arrays, with the same tree of tasks.
  heist::sim::program initializer() const {
    heist::sim::program_builder b{"heat, initialiser"};
    add_tree(b, [&](block const& k) {
      for (std::uint64_t const array : {std::uint64_t{0}, std::uint64_t{1}})
        for (std::uint64_t r = k.row; r != k.row + rows_of_block; ++r) touch(b, array, r, k.column, true);
    });
    return b.finish();
  }

  /// The steal tree that gives each worker its blocks.
  heist::steal_tree by_hand() const {
    struct open_part {
      part of;
      std::vector<std::uint32_t> place;
    };
    std::vector<heist::steal_tree::steal> steals;
    std::vector<std::uint32_t> numbers(workers_);
    std::vector<open_part> open{{whole(), {}}};
    while (!open.empty()) {
      auto const [of, place] = std::move(open.back());
      open.pop_back();
      if (of.workers == 1) continue;
      auto const [left, right] = halves(of);
      auto place_of_left = place, place_of_right = place;
      place_of_left.push_back(0);
      place_of_right.push_back(1);
      // Child-first: the victim runs the left half, and the thief continues the frame with the right half.
      steals.push_back({place_of_left, right.worker, left.worker, numbers[right.worker]++});
      open.push_back({right, std::move(place_of_right)});
      open.push_back({left, std::move(place_of_left)});
    }
    return {workers_, 0, std::move(steals)};
  }

 private:
  static constexpr std::uint64_t rows_of_block = 8, columns_of_block = 1024, element_bytes = 8;

  struct block {
    std::uint64_t row, column;  ///< of its first element
  };
  struct part {
    std::uint32_t first, blocks;
    std::uint32_t worker, workers;  ///< the first worker, and the number of workers
  };

  part whole() const { return {0, plate_.blocks(), 0, workers_}; }
  static std::pair<part, part> halves(part const& p) {
    std::uint32_t const workers = p.workers == 1 ? 1 : p.workers / 2;
    std::uint32_t const blocks = p.workers == 1 ? p.blocks / 2 : p.blocks * workers / p.workers;
    std::uint32_t const rest = p.workers == 1 ? 0 : workers;
    return {{p.first, blocks, p.worker, workers},
            {p.first + blocks, p.blocks - blocks, p.worker + rest, p.workers == 1 ? 1 : p.workers - workers}};
  }

  std::uint64_t rows() const { return plate_.block_rows * rows_of_block; }
  std::uint64_t row_bytes() const { return plate_.block_columns * columns_of_block * element_bytes; }
  void touch(heist::sim::program_builder& b, std::uint64_t array, std::uint64_t row, std::uint64_t column,
             bool writes) const {
    b.touch((array * rows() + row) * row_bytes() + column * element_bytes, columns_of_block * element_bytes, writes);
  }

  /// Calls leaf(block) for each block.
  template <class Leaf>
  void add_tree(heist::sim::program_builder& b, Leaf const& leaf) const {
    std::vector<std::pair<std::uint32_t, part>> open{{b.add_tree(), whole()}};
    while (!open.empty()) {
      auto const [task, of] = open.back();
      open.pop_back();
      b.begin(task);
      if (of.blocks == 1) {
        leaf({of.first / plate_.block_columns * rows_of_block, of.first % plate_.block_columns * columns_of_block});
      } else {
        auto const [left, right] = halves(of);
        std::uint32_t const child = b.fork(2);
        open.emplace_back(child + 1, right);
        open.emplace_back(child, left);
      }
    }
  }

  plate plate_;
  std::uint32_t workers_;
};

/// The options of a simulation. `node_map` has the nodes of pages that an earlier program placed; null: none. `follow`
/// is the steal tree to follow; null: none.
struct setting {
  std::uint32_t workers = 1;
  std::uint64_t seed = 1;
  heist::sim::page_placement pages = heist::sim::page_placement::first_touch;
  heist::sim::page_node_map const* node_map = nullptr;
  heist::steal_tree const* follow = nullptr;
  heist::replay_mode mode = heist::replay_mode::relaxed;
  std::uint64_t links = link_bandwidth;
};

inline heist::sim::report simulate(heist::sim::program const& p, setting const& s) {
  heist::sim::options o{.workers = s.workers, .machine = heist::topology::parse(description), .seed = s.seed};
  o.squads = heist::squad_by::package;
  o.costs = costs();
  o.caches.block_bytes = 1024;
  o.numa = {.pages = s.pages, .node_map = s.node_map, .node_bandwidth = node_bandwidth, .link_bandwidth = s.links};
  o.follow = s.follow;
  o.mode = s.mode;
  return heist::simulate<cilk>(p, o);
}

}  // namespace papers::e7_8860
