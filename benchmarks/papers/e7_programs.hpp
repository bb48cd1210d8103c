// The six programs of the paper on constrained work stealing, for its simulated machine.
#pragma once

#include <heist/simulate.hpp>

#include <algorithm>  // clamp, max, min
#include <cstddef>    // size_t
#include <cstdint>
#include <utility>  // move, pair
#include <vector>

#include "e7_8860.hpp"

namespace papers::e7_8860 {

/// Binary trees of tasks over blocks 0 to `count`. Leaves are single blocks. For blocks placed by hand the tree first
/// halves the workers, and divides the blocks in proportion. It then halves the blocks of each worker.
class block_tree {
 public:
  block_tree(std::uint32_t count, std::uint32_t workers) : count_{count}, workers_{workers} {}

  std::uint32_t count() const { return count_; }
  /// A tree over fewer blocks, with as many workers.
  block_tree coarser(std::uint32_t times) const { return {std::max(count_ / times, 1u), workers_}; }

  /// Adds a tree. Calls leaf(block) for each block.
  template <class Leaf>
  void add_to(heist::sim::program_builder& b, Leaf const& leaf) const {
    std::vector<std::pair<std::uint32_t, part>> open{{b.add_tree(), whole()}};
    while (!open.empty()) {
      auto const [task, of] = open.back();
      open.pop_back();
      b.begin(task);
      if (of.blocks == 1) {
        leaf(of.first);
      } else {
        auto const [left, right] = halves(of);
        std::uint32_t const child = b.fork(2);
        open.emplace_back(child + 1, right);
        open.emplace_back(child, left);
      }
    }
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
      if (of.workers == 1 || of.blocks == 1) continue;
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
  struct part {
    std::uint32_t first, blocks;
    std::uint32_t worker, workers;  ///< the first worker, and the number of workers
  };

  part whole() const { return {0, count_, 0, workers_}; }
  static std::pair<part, part> halves(part const& p) {
    std::uint32_t const workers = p.workers == 1 ? 1 : p.workers / 2;
    std::uint32_t const share = p.workers == 1 ? p.blocks / 2 : p.blocks * workers / p.workers;
    std::uint32_t const blocks = std::clamp(share, 1u, p.blocks - 1);  // there may be more workers than blocks
    std::uint32_t const rest = p.workers == 1 ? 0 : workers;
    return {{p.first, blocks, p.worker, workers},
            {p.first + blocks, p.blocks - blocks, p.worker + rest, p.workers == 1 ? 1 : p.workers - workers}};
  }

  std::uint32_t count_, workers_;
};

/// The program that writes all arrays first, and a step of the kernel, as trees over the same blocks.
struct program_pair {
  heist::sim::program initializer, steps;
  /// Which of the kernel's last trees the next iteration follows: 1 is the last one.
  std::size_t followed = 1;
};

/// Arrays of equal size in a row, and the cost of work on them.
class arrays {
 public:
  arrays(heist::sim::program_builder& b, std::uint64_t bytes) : builder_{b}, bytes_{(bytes + 4095) / 4096 * 4096} {}

  /// `size` bytes from `offset` on in array `a`; what lies outside of the array is left out.
  void touch(std::uint64_t a, std::int64_t offset, std::int64_t size, bool writes) const {
    std::int64_t const end = std::min<std::int64_t>(offset + size, static_cast<std::int64_t>(bytes_));
    offset = std::max<std::int64_t>(offset, 0);
    if (offset < end)
      builder_.touch(a * bytes_ + static_cast<std::uint64_t>(offset), static_cast<std::uint64_t>(end - offset), writes);
  }
  void work(double elements, double ns) const { builder_.work(static_cast<heist::sim::ticks>(elements * ns)); }

 private:
  heist::sim::program_builder& builder_;
  std::uint64_t bytes_;
};

/// A plate of doubles in blocks of 8 rows.
struct plate_shape {
  std::int64_t rows, columns, columns_of_block;
  static constexpr std::int64_t rows_of_block = 8, element = 8;

  std::uint32_t blocks() const {
    return static_cast<std::uint32_t>(rows / rows_of_block * (columns / columns_of_block));
  }
  std::int64_t bytes() const { return rows * columns * element; }
  std::int64_t first_row(std::uint32_t block) const {
    return static_cast<std::int64_t>(block) / (columns / columns_of_block) * rows_of_block;
  }
  std::int64_t first_column(std::uint32_t block) const {
    return static_cast<std::int64_t>(block) % (columns / columns_of_block) * columns_of_block;
  }
  double elements_of_block() const { return static_cast<double>(rows_of_block * columns_of_block); }
  /// The rows of a block, and `above` and `below` it, in array `a`.
  void touch(arrays const& all, std::uint64_t a, std::uint32_t block, bool writes, std::int64_t above = 0,
             std::int64_t below = 0) const {
    for (std::int64_t r = first_row(block) - above; r != first_row(block) + rows_of_block + below; ++r) {
      if (r >= 0 && r < rows)
        all.touch(a, (r * columns + first_column(block)) * element, columns_of_block * element, writes);
    }
  }
  /// Writes `count` arrays.
  heist::sim::program initializer(block_tree const& tree, std::uint64_t count) const {
    heist::sim::program_builder b{"initialiser"};
    arrays const all{b, static_cast<std::uint64_t>(bytes())};
    tree.add_to(b, [&](std::uint32_t block) {
      for (std::uint64_t a = 0; a != count; ++a) touch(all, a, block, true);
    });
    return b.finish();
  }
};

// Costs of an element in ns are at 2.27 GHz, as if it had one load a cycle.

/// Two steps of five-point heat. Each reads one array and writes the other.
inline program_pair heat(plate_shape const& p, block_tree const& tree) {
  heist::sim::program_builder b{"heat"};
  arrays const all{b, static_cast<std::uint64_t>(p.bytes())};
  for (std::uint64_t const from : {0u, 1u}) {
    tree.add_to(b, [&](std::uint32_t block) {
      p.touch(all, from, block, false, 1, 1);
      p.touch(all, 1 - from, block, true);
      all.work(p.elements_of_block(), 2.2);
    });
  }
  return {p.initializer(tree, 2), b.finish()};
}

/// Two steps of two sweeps: ey and ex from hz, then hz from both.
inline program_pair fdtd(plate_shape const& p, block_tree const& tree) {
  heist::sim::program_builder b{"fdtd"};
  arrays const all{b, static_cast<std::uint64_t>(p.bytes())};
  for (int step = 0; step != 2; ++step) {
    tree.add_to(b, [&](std::uint32_t block) {
      p.touch(all, 2, block, false, 1);
      p.touch(all, 0, block, true);
      p.touch(all, 1, block, true);
      all.work(p.elements_of_block(), 2.6);
    });
    tree.add_to(b, [&](std::uint32_t block) {
      p.touch(all, 0, block, false, 0, 1);
      p.touch(all, 1, block, false);
      p.touch(all, 2, block, true);
      all.work(p.elements_of_block(), 2.2);
    });
  }
  return {p.initializer(tree, 3), b.finish()};
}

/// Two iterations, each an outer product with one row and one column.
inline program_pair floyd_warshall(plate_shape const& p, block_tree const& tree) {
  heist::sim::program_builder b{"floyd-warshall"};
  arrays const all{b, static_cast<std::uint64_t>(p.bytes())};
  for (std::int64_t const k : {p.rows / 2, p.rows / 2 + 1}) {
    tree.add_to(b, [&](std::uint32_t block) {
      all.touch(0, (k * p.columns + p.first_column(block)) * p.element, p.columns_of_block * p.element, false);
      for (std::int64_t r = p.first_row(block); r != p.first_row(block) + p.rows_of_block; ++r)
        all.touch(0, (r * p.columns + k) * p.element, p.element, false);
      p.touch(all, 0, block, true);
      all.work(p.elements_of_block(), 1.3);
    });
  }
  return {p.initializer(tree, 1), b.finish()};
}

/// Conjugate gradient, two iterations: the product with the sparse matrix, whose rows read the whole vector, and the
/// updates of the vectors. A row has 200 numbers of 8 bytes and their columns of 4 bytes.
inline program_pair cg(std::int64_t rows, block_tree const& tree) {
  constexpr std::int64_t numbers = 200, bytes_of_number = 12, element = 8;
  std::int64_t const rows_of_block = rows / tree.count(), bytes = rows * numbers * bytes_of_number;
  // Array 0 is the matrix, 1 to 4 the vectors p, q, r and z.
  auto const vector = [&](arrays const& all, std::uint64_t a, std::uint32_t block, bool writes) {
    all.touch(a, block * rows_of_block * element, rows_of_block * element, writes);
  };
  auto const matrix = [&](arrays const& all, std::uint32_t block, bool writes) {
    all.touch(0, block * rows_of_block * numbers * bytes_of_number, rows_of_block * numbers * bytes_of_number, writes);
  };
  heist::sim::program_builder first{"cg, initialiser"}, b{"cg"};
  arrays const to_write{first, static_cast<std::uint64_t>(bytes)}, all{b, static_cast<std::uint64_t>(bytes)};
  tree.add_to(first, [&](std::uint32_t block) {
    matrix(to_write, block, true);
    for (std::uint64_t a = 1; a != 5; ++a) vector(to_write, a, block, true);
  });
  for (int iteration = 0; iteration != 2; ++iteration) {
    tree.add_to(b, [&](std::uint32_t block) {
      matrix(all, block, false);
      all.touch(1, 0, rows * element, false);
      vector(all, 2, block, true);
      all.work(static_cast<double>(rows_of_block * numbers), 1.3);
    });
    tree.add_to(b, [&](std::uint32_t block) {
      for (std::uint64_t a = 1; a != 5; ++a) vector(all, a, block, a != 2);
      all.work(static_cast<double>(rows_of_block), 4);
    });
  }
  return {first.finish(), b.finish(), 2};
}

/// Multigrid: a V-cycle over three resolutions, each with an eighth of the blocks of the one before. Arrays are the
/// residual and the solution. A block's stencil reads half of each neighbouring block.
inline program_pair mg(std::int64_t bytes_of_block, block_tree const& finest) {
  std::vector<block_tree> const levels{finest, finest.coarser(8), finest.coarser(64)};
  std::uint64_t const bytes = finest.count() * static_cast<std::uint64_t>(bytes_of_block);
  auto const residual = [](std::size_t level) { return 2 * level; };
  auto const solution = [](std::size_t level) { return 2 * level + 1; };
  auto const block_of = [&](arrays const& all, std::uint64_t a, std::uint32_t block, bool writes,
                            std::int64_t halo = 0) {
    all.touch(a, block * bytes_of_block - halo, bytes_of_block + 2 * halo, writes);
  };
  auto const elements = static_cast<double>(bytes_of_block / 8);
  heist::sim::program_builder first{"mg, initialiser"}, b{"mg"};
  arrays const to_write{first, bytes}, all{b, bytes};
  for (std::size_t level = 0; level != levels.size(); ++level) {
    levels[level].add_to(first, [&](std::uint32_t block) {
      block_of(to_write, residual(level), block, true);
      block_of(to_write, solution(level), block, true);
    });
  }
  for (std::size_t level = 0; level + 1 != levels.size(); ++level) {  // restriction, to coarser levels
    levels[level + 1].add_to(b, [&](std::uint32_t block) {
      all.touch(residual(level), 8 * block * bytes_of_block, 8 * bytes_of_block, false);
      block_of(all, residual(level + 1), block, true);
      all.work(8 * elements, 2);
    });
  }
  for (std::size_t level = levels.size(); level-- != 0;) {  // smoothing, and interpolation from the coarser level
    levels[level].add_to(b, [&](std::uint32_t block) {
      if (level + 1 != levels.size())
        all.touch(solution(level + 1), block * bytes_of_block / 8, bytes_of_block / 8, false);
      block_of(all, residual(level), block, false, bytes_of_block / 2);
      block_of(all, solution(level), block, true);
      all.work(elements, 8);
    });
  }
  return {first.finish(), b.finish()};
}

/// Parallel prefix sums: a pass that adds up each block, one task over the sums, and a pass that writes.
inline program_pair prefix(std::int64_t bytes_of_block, block_tree const& tree) {
  std::uint64_t const bytes = tree.count() * static_cast<std::uint64_t>(bytes_of_block);
  auto const elements = static_cast<double>(bytes_of_block / 8);
  heist::sim::program_builder first{"prefix, initialiser"}, b{"prefix"};
  arrays const to_write{first, bytes}, all{b, bytes};
  tree.add_to(first, [&](std::uint32_t block) { to_write.touch(0, block * bytes_of_block, bytes_of_block, true); });
  tree.add_to(b, [&](std::uint32_t block) {
    all.touch(0, block * bytes_of_block, bytes_of_block, false);
    all.work(elements, 0.5);
  });
  tree.add_to(b, [&](std::uint32_t block) {
    all.touch(0, block * bytes_of_block, bytes_of_block, true);
    all.work(elements, 1);
  });
  return {first.finish(), b.finish()};
}

}  // namespace papers::e7_8860
