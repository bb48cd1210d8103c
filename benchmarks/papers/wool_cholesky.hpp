// The task tree of cholesky, of Wool's section 5.1: a sparse matrix as a tree of quarters, from the Cilk-5 distribution.
#pragma once

#include <heist/simulate.hpp>

#include <array>
#include <cstddef>  // size_t
#include <cstdint>
#include <initializer_list>
#include <utility>  // pair, swap
#include <vector>

namespace papers::wool {

/// Factorises a random symmetric matrix by its pattern alone, and keeps the tasks. Blocks of 4 x 4 elements are not
/// divided. A block with zeros only does not exist. Each recursive call is a task, and calls that write to different
/// quarters run in parallel.
class cholesky_tree {
 public:
  /// The diagonal, and `per_row` - 1 other elements a row, at random places.
  cholesky_tree(std::uint32_t rows, std::uint32_t per_row, std::uint64_t seed) {
    unsigned depth = 0;
    while ((block_rows << depth) < rows) ++depth;
    quarter const root = add_quarter();
    heist::fast_random random{seed};
    for (std::uint32_t i = 0; i != rows; ++i) set(depth, root, i / block_rows, i / block_rows);
    for (std::uint32_t i = 0; i != (per_row - 1) * rows; ++i) {
      auto row = static_cast<std::uint32_t>(random.next() % rows),
           column = static_cast<std::uint32_t>(random.next() % rows);
      if (row < column) std::swap(row, column);
      set(depth, root, row / block_rows, column / block_rows);
    }
    root_task_ = factorise(depth, root);
  }

  std::size_t task_count() const noexcept { return tasks_.size(); }

  /// `cycles`: of all leaves of one factorisation; a leaf has its part by its operations.
  heist::sim::program program(double cycles, std::uint32_t repetitions) const {
    double all = 0;
    for (task const& t : tasks_) all += t.operations;
    heist::sim::program_builder b{"cholesky"};
    std::uint32_t const root = b.add_tree();
    for (std::uint32_t i = 1; i < repetitions; ++i) b.again(root);
    std::vector<std::pair<std::uint32_t, task_number>> open{{root, root_task_}};
    while (!open.empty()) {
      auto const [at, number] = open.back();
      open.pop_back();
      task const& t = tasks_[number];
      b.begin(at, 1);
      b.work(static_cast<heist::sim::ticks>(t.operations / all * cycles));
      task_number const* child = t.children.data();
      for (std::uint8_t const size : t.sizes) {
        if (size == 0) break;
        std::uint32_t const first = b.fork(size);
        for (std::uint32_t i = 0; i != size; ++i) open.emplace_back(first + i, *child++);
      }
    }
    return b.finish();
  }

 private:
  using quarter = std::uint32_t;  ///< the number of a part of the matrix; 0: zeros only
  using task_number = std::uint32_t;
  static constexpr task_number no_task = ~task_number{0};
  static constexpr std::uint32_t block_rows = 4;

  // Operations on blocks. A division or a square root counts as eight multiplications, as they are made by software.
  static constexpr std::uint32_t slow = 8;
  static constexpr std::uint32_t of_multiply = 128, of_lower_multiply = 80, of_solve = 4 * (4 * slow + 12),
                                 of_factorise = 10 * slow + 20;

  struct task {
    std::uint32_t operations = 0;
    std::array<task_number, 8> children{};
    std::array<std::uint8_t, 4> sizes{};  ///< of the groups of children that run in parallel
    std::uint8_t groups = 0, count = 0;
  };

  quarter add_quarter() {
    parts_.push_back({});
    return static_cast<quarter>(parts_.size() - 1);
  }
  /// Part `which` of `q`, which exists from here on.
  quarter part(quarter q, std::size_t which) {
    if (parts_[q][which] == 0) {
      quarter const made = add_quarter();  // moves the parts
      parts_[q][which] = made;
    }
    return parts_[q][which];
  }
  task_number add_task() {
    tasks_.push_back({});
    return static_cast<task_number>(tasks_.size() - 1);
  }
  void set(unsigned depth, quarter q, std::uint32_t row, std::uint32_t column) {
    while (depth-- != 0) q = part(q, 2 * (row >> depth & 1) + (column >> depth & 1));
  }
  void add_group(task_number t, std::initializer_list<task_number> parallel) {
    task& of = tasks_[t];
    std::uint8_t size = 0;
    for (task_number const child : parallel) {
      if (child == no_task) continue;
      of.children[of.count++] = child;
      ++size;
    }
    if (size != 0) of.sizes[of.groups++] = size;
  }

  /// Subtracts a times the transposed b from part `which` of `q`.
  task_number multiply_into(unsigned depth, bool lower, quarter a, quarter b, quarter q, std::size_t which) {
    if (a == 0 || b == 0) return no_task;
    return multiply(depth, lower, a, b, part(q, which));
  }
  task_number multiply(unsigned depth, bool lower, quarter a, quarter b, quarter r) {
    task_number const t = add_task();
    if (depth == 0) {
      tasks_[t].operations = lower ? of_lower_multiply : of_multiply;
      return t;
    }
    for (std::size_t column : {0, 1}) {
      std::array<task_number, 4> made{};
      for (std::size_t i = 0; i != 4; ++i) {
        bool const above = i == 1;  // of the diagonal
        made[i] = above && lower ? no_task
                                 : multiply_into(depth - 1, lower && i != 2, parts_[a][2 * (i / 2) + column],
                                                 parts_[b][2 * (i % 2) + column], r, i);
      }
      add_group(t, {made[0], made[1], made[2], made[3]});
    }
    return t;
  }

  /// Multiplies a by the inverse of the transposed l.
  task_number solve(unsigned depth, quarter a, quarter l) {
    if (a == 0) return no_task;
    task_number const t = add_task();
    if (depth == 0) {
      tasks_[t].operations = of_solve;
      return t;
    }
    auto const solve_column = [&](std::size_t column, quarter diagonal) {
      task_number const upper = solve(depth - 1, parts_[a][column], diagonal);
      add_group(t, {upper, solve(depth - 1, parts_[a][2 + column], diagonal)});
    };
    solve_column(0, parts_[l][0]);
    task_number const upper = multiply_into(depth - 1, false, parts_[a][0], parts_[l][2], a, 1);
    add_group(t, {upper, multiply_into(depth - 1, false, parts_[a][2], parts_[l][2], a, 3)});
    solve_column(1, parts_[l][3]);
    return t;
  }

  task_number factorise(unsigned depth, quarter a) {
    if (a == 0) return no_task;
    task_number const t = add_task();
    if (depth == 0) {
      tasks_[t].operations = of_factorise;
      return t;
    }
    task_number const upper = factorise(depth - 1, parts_[a][0]);
    if (parts_[a][2] == 0) {
      add_group(t, {upper, factorise(depth - 1, parts_[a][3])});
      return t;
    }
    add_group(t, {upper});
    add_group(t, {solve(depth - 1, parts_[a][2], parts_[a][0])});
    add_group(t, {multiply_into(depth - 1, true, parts_[a][2], parts_[a][2], a, 3)});
    add_group(t, {factorise(depth - 1, parts_[a][3])});
    return t;
  }

  std::vector<std::array<quarter, 4>> parts_{{}};  ///< upper left, upper right, lower left, lower right
  std::vector<task> tasks_;
  task_number root_task_ = no_task;
};

}  // namespace papers::wool
