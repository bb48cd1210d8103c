// The unbalanced programs of CATS for the simulator: heat, SOR and GE. Their tasks divide rows by two and by four in
// turn (the paper's Algorithm 1).
#pragma once

#include <heist/simulate.hpp>

#include <algorithm>  // max, min
#include <array>
#include <cmath>  // llround
#include <cstdint>
#include <string>
#include <utility>  // move
#include <vector>

namespace papers::opteron {

struct shape {
  std::uint32_t rows, columns, leaf_rows, steps;
  std::uint32_t element_bytes = 8;
};

/// The cost of an element in ns: arithmetic on data in L1.
inline constexpr double ticks_per_element = 1.0;

/// Builds programs from trees of tasks over the rows of `matrices` matrices of one size.
class halves_or_quarters {
 public:
  struct rows {
    std::uint32_t first, last;
    std::uint32_t size() const { return last - first; }
  };

  halves_or_quarters(std::string name, shape const& s, std::uint32_t matrices)
      : shape_{s}, builder_{std::move(name)}, region_{builder_.add_region({"sweep", matrices * bytes(s.rows), 2})} {}

  /// Adds a tree over the rows from `first` on, and returns its root. Calls leaf(rows) for each leaf; the call adds the
  /// leaf's touches and work.
  template <class Leaf>
  std::uint32_t add_tree(std::uint32_t first, Leaf const& leaf) {
    std::uint32_t const root = builder_.add_tree(region_);
    std::vector<open> todo{{root, {first, shape_.rows}, false}};
    while (!todo.empty()) {
      open const now = todo.back();
      todo.pop_back();
      builder_.begin(now.task, now.by_four ? 2 : 1);
      if (now.part.size() <= std::max(shape_.leaf_rows, std::uint32_t{4})) {
        leaf(now.part);
        continue;
      }
      std::uint32_t const ways = now.by_four ? 4 : 2, share = now.part.size() / ways;
      std::uint32_t const children = builder_.fork(ways), by_four = now.by_four ? 2 : 0;
      for (std::uint32_t i = ways; i-- > 0;) {
        std::uint32_t const from = now.part.first + i * share;
        todo.push_back({children + i, {from, i + 1 == ways ? now.part.last : from + share}, i == by_four});
      }
    }
    return root;
  }
  void again(std::uint32_t root) { builder_.again(root, region_); }

  void touch(std::uint32_t matrix, rows part, bool writes) {
    constexpr std::uint64_t page = 4096;
    builder_.touch(matrix * (bytes(shape_.rows) / page + 1) * page + bytes(part.first), bytes(part.size()), writes);
  }
  void compute(double elements) {
    builder_.work(static_cast<heist::sim::ticks>(std::llround(elements * ticks_per_element)));
  }
  rows around(rows part) const { return {part.first == 0 ? 0 : part.first - 1, std::min(part.last + 1, shape_.rows)}; }
  double elements(rows part) const { return static_cast<double>(part.size()) * shape_.columns; }

  heist::sim::program finish() { return builder_.finish(); }

 private:
  struct open {
    std::uint32_t task;
    rows part;
    bool by_four;
  };

  std::uint64_t bytes(std::uint64_t rows) const { return rows * shape_.columns * shape_.element_bytes; }

  shape shape_;
  heist::sim::program_builder builder_;
  std::uint32_t region_;
};

inline heist::sim::program heat_ub(shape const& s) {
  halves_or_quarters p{"heat-ub", s, 2};
  std::array<std::uint32_t, 2> roots{};
  for (std::uint32_t step = 0; step < s.steps; ++step) {
    if (step >= 2) {
      p.again(roots[step % 2]);
      continue;
    }
    roots[step] = p.add_tree(0, [&](halves_or_quarters::rows part) {
      p.touch(step, p.around(part), false);
      p.touch(1 - step, part, true);
      p.compute(p.elements(part));
    });
  }
  return p.finish();
}

inline heist::sim::program sor_ub(shape const& s) {
  halves_or_quarters p{"sor-ub", s, 1};
  std::uint32_t const root = p.add_tree(0, [&](halves_or_quarters::rows part) {
    p.touch(0, p.around(part), false);
    p.touch(0, part, true);
    p.compute(p.elements(part) / 2);
  });
  for (std::uint32_t sweep = 1; sweep < 2 * s.steps; ++sweep) p.again(root);
  return p.finish();
}

/// The number of steps is the number of rows less one. `steps` is not used. `only_what_is_left`: as in ge().
inline heist::sim::program ge_ub(shape const& s, bool only_what_is_left = true) {
  halves_or_quarters p{"ge-ub", s, 1};
  for (std::uint32_t k = 0; k + 1 < s.rows; ++k) {
    p.add_tree(only_what_is_left ? k + 1 : 0, [&](halves_or_quarters::rows part) {
      halves_or_quarters::rows const below{std::max(part.first, k + 1), part.last};
      if (below.first >= below.last) return;
      p.touch(0, {k, k + 1}, false);
      p.touch(0, below, true);
      p.compute(static_cast<double>(below.size()) * (s.columns > k ? s.columns - k : 1));
    });
  }
  return p.finish();
}

}  // namespace papers::opteron
