// Bodies of matrices.hpp.
#pragma once

#include "heist/tools/simulate/matrices.hpp"

#include <algorithm>  // max, min
#include <cmath>      // llround
#include <string>
#include <utility>  // move
#include <vector>

#include "heist/tools/simulate/fail.hpp"
#include "heist/tools/simulate/program_builder.hpp"

namespace heist::sim {

namespace detail {

/// Rows from `first` up to `last`.
struct rows {
  std::uint64_t first = 0, last = 0;
  std::uint64_t size() const noexcept { return last - first; }
};

/// Builds trees that divide rows, each task of which is told what its leaf does.
class sweeper {
 public:
  explicit sweeper(matrix_options const& o, std::string name, std::uint64_t arrays)
      : options_{o}, built_{std::move(name)} {
    constexpr std::uint64_t most = std::uint64_t{1} << 40;
    if (o.rows == 0 || o.columns == 0 || o.steps == 0 || o.leaf_rows == 0 || o.element_bytes == 0 || o.branching < 2)
      fail(
          "a matrix of {} x {} elements of {} bytes in {} steps, with leaves of {} rows and {} parts; fix it by at "
          "least 1 of each and 2 parts",
          o.rows, o.columns, o.element_bytes, o.steps, o.leaf_rows, o.branching);
    if (o.rows > most / o.columns / o.element_bytes || !(o.ticks_per_element >= 0 && o.ticks_per_element < 1e9))
      fail(
          "a matrix of {} x {} elements that take {} ticks each is too large; fix it by at most 2^40 bytes, and less "
          "than 10^9 ticks",
          o.rows, o.columns, o.ticks_per_element);
    region_ = built_.add_region({"sweep", arrays * bytes(o.rows), o.branching});
  }

  std::uint64_t bytes(std::uint64_t rows) const noexcept { return rows * options_.columns * options_.element_bytes; }
  ticks work(double elements) const noexcept {
    return static_cast<ticks>(std::llround(elements * options_.ticks_per_element));
  }
  /// A piece of an array, row by row.
  void touch(std::uint64_t array, rows part, bool writes) {
    built_.touch(array * array_distance() + bytes(part.first), bytes(part.size()), writes);
  }
  /// Of each of these rows of the first array, what begins with a column.
  void touch_from(std::uint64_t column, rows part, bool writes) {
    std::uint64_t const left = std::min(column, options_.columns) * options_.element_bytes;
    for (std::uint64_t r = part.first; r != part.last; ++r) built_.touch(bytes(r) + left, bytes(1) - left, writes);
  }
  /// The rows and their neighbours.
  rows around(rows part) const noexcept {
    return {part.first == 0 ? 0 : part.first - 1, std::min(part.last + 1, options_.rows)};
  }

  rows all() const noexcept { return {0, options_.rows}; }

  /// A tree over rows; its root. `leaf(part)` says what the task of these rows does.
  template <class Leaf>
  std::uint32_t add_tree(rows whole, Leaf leaf) {
    std::uint32_t const root = built_.add_tree(region_);
    open_.push_back({root, whole});
    while (!open_.empty()) {
      auto const [task, part] = open_.back();
      open_.pop_back();
      built_.begin(task, 1);
      if (part.size() <= options_.leaf_rows) {
        leaf(part);
      } else {
        divide(part);
      }
    }
    return root;
  }
  void again(std::uint32_t root) { built_.again(root, region_); }
  program_builder& built() noexcept { return built_; }

 private:
  struct open_task {
    std::uint32_t task;
    rows part;
  };

  void divide(rows part) {
    std::uint64_t const shares = options_.branching + (options_.unbalanced ? 2u : 0u);
    auto const parts = static_cast<std::uint32_t>(std::min<std::uint64_t>(options_.branching, part.size()));
    std::uint32_t const first = built_.fork(parts);
    std::uint64_t from = part.first;
    for (std::uint32_t i = 0; i != parts; ++i) {
      std::uint64_t const up_to_here = i + 1 + (options_.unbalanced ? 2u : 0u);
      // Every part has a row; the last has the remaining rows.
      std::uint64_t to = part.first + std::max<std::uint64_t>(part.size() * up_to_here / shares, i + 1);
      to = i + 1 == parts ? part.last : std::min(to, part.last - (parts - 1 - i));
      open_.push_back({first + i, {from, to}});
      from = to;
    }
  }

  /// Arrays begin at pages of their own.
  std::uint64_t array_distance() const noexcept { return (bytes(options_.rows) / 4096 + 1) * 4096; }

  matrix_options const& options_;
  program_builder built_;
  std::uint32_t region_;
  std::vector<open_task> open_;
};

}  // namespace detail

HEIST_COLD_BODY program heat(matrix_options const& wanted) {
  detail::sweeper s{wanted, wanted.unbalanced ? "heat, unbalanced" : "heat", 2};
  std::uint32_t roots[2];
  for (std::uint64_t from : {std::uint64_t{0}, std::uint64_t{1}}) {
    if (from == 1 && wanted.steps == 1) break;
    roots[from] = s.add_tree(s.all(), [&](detail::rows part) {
      s.touch(from, s.around(part), false);
      s.touch(1 - from, part, true);
      s.built().work(s.work(static_cast<double>(part.size() * wanted.columns)));
    });
  }
  for (std::uint32_t step = 2; step < wanted.steps; ++step) s.again(roots[step % 2]);
  return s.built().finish();
}

HEIST_COLD_BODY program sor(matrix_options const& wanted) {
  detail::sweeper s{wanted, "sor", 1};
  std::uint32_t const root = s.add_tree(s.all(), [&](detail::rows part) {
    s.touch(0, s.around(part), false);
    s.touch(0, part, true);
    s.built().work(s.work(static_cast<double>(part.size() * wanted.columns) / 2));
  });
  for (std::uint32_t sweep = 1; sweep != 2 * wanted.steps; ++sweep) s.again(root);
  return s.built().finish();
}

HEIST_COLD_BODY program gauss_elimination(matrix_options wanted) {
  wanted.steps = 1;
  detail::sweeper s{wanted, "gauss elimination", 1};
  for (std::uint64_t k = 0; k + 1 < std::max<std::uint64_t>(wanted.rows, 2); ++k) {
    detail::rows const whole = wanted.only_what_is_left ? detail::rows{k + 1, wanted.rows} : s.all();
    s.add_tree(whole, [&](detail::rows part) {
      detail::rows const below{std::max(part.first, k + 1), part.last};
      if (below.first >= below.last) return;
      if (wanted.only_what_is_left) {
        s.touch_from(k, {k, k + 1}, false);
        s.touch_from(k, below, true);
      } else {
        s.touch(0, {k, k + 1}, false);
        s.touch(0, below, true);
      }
      auto const width = static_cast<double>(wanted.columns > k ? wanted.columns - k : 1);
      s.built().work(s.work(static_cast<double>(below.size()) * width));
    });
  }
  return s.built().finish();
}

}  // namespace heist::sim
