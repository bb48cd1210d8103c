// Programs of Wool's section 5.1, with their figures from its Table 1.
#pragma once

#include <heist/simulate.hpp>

#include <fmt/format.h>

#include <array>
#include <bit>      // popcount
#include <cstddef>  // size_t
#include <cstdint>
#include <numeric>  // accumulate
#include <string>
#include <utility>  // exchange, pair
#include <vector>

#include "report.hpp"
#include "wool_cholesky.hpp"

namespace papers::wool {

/// A program of section 5.1, with its figures from Table 1. 0: Table 1 has no figure.
struct program {
  std::string name;
  heist::sim::program tasks;
  double parallelism;   ///< t1 / t_inf with 1000 cycles of stealing
  double steals_by_63;  ///< t1 / the average steal interval
  bool parks = false;   ///< a worker whose task was stolen parks at the join; otherwise it leap-frogs, as Wool's
};

/// The paper's bounds on the speedup of p workers, computed from t1 / t_inf. The slow end is t1 / (t_inf + t1 / p), the
/// fast end is t1 / max(t_inf, t1 / p).
inline double slow_end(double parallelism, double p) {
  return 1 / (1 / parallelism + 1 / p);
}
inline double fast_end(double parallelism, double p) {
  return parallelism < p ? parallelism : p;
}

/// The Fibonacci function without a threshold: a task of 63 cycles for each call.
inline heist::sim::program fib(std::uint32_t n) {
  heist::sim::program_builder b{"fib"};
  std::vector<std::pair<std::uint32_t, std::uint32_t>> open{{b.add_tree(), n}};
  while (!open.empty()) {
    auto const [task, k] = open.back();
    open.pop_back();
    b.begin(task, 1);
    b.work(63);
    if (k < 2) continue;
    std::uint32_t const children = b.fork(2);
    open.emplace_back(children + 1, k - 1);
    open.emplace_back(children, k - 2);
  }
  return b.finish();
}

/// Depth-first search for places of n queens: a task of 521 cycles for each placement without conflicts.
inline heist::sim::program queens(std::uint32_t n) {
  struct node {
    std::uint32_t task, columns, falling, rising;
  };
  heist::sim::program_builder b{"nqueens"};
  std::vector<node> open{{b.add_tree(), 0, 0, 0}};
  std::uint32_t const all = (1u << n) - 1;
  while (!open.empty()) {
    node const now = open.back();
    open.pop_back();
    b.begin(now.task, 1);
    b.work(521);
    std::uint32_t const free = all & ~(now.columns | now.falling | now.rising);
    if (free == 0) continue;
    std::uint32_t child = b.fork(static_cast<std::uint32_t>(std::popcount(free)));
    for (std::uint32_t left = free; left != 0; left &= left - 1) {
      std::uint32_t const queen = left & (~left + 1);
      open.push_back({child++, now.columns | queen, ((now.falling | queen) << 1) & all, (now.rising | queen) >> 1});
    }
  }
  return b.finish();
}

/// Sub string finder on the string s_(n-1), s_n = s_(n-1) s_(n-2), s_0 = "a", s_1 = "b": as many letters as the paper has
/// tasks. For each position, the other one
/// from which the longest equal text starts. A task for each position, in a balanced tree. Its work is proportional to
/// the letters that it compares, and all of them take `cycles`.
inline heist::sim::program substring_finder(std::uint32_t n, double cycles, std::uint32_t repetitions) {
  std::string before = "a", text = "b";
  for (std::uint32_t i = 2; i < n; ++i) before = std::exchange(text, text + before);
  std::size_t const size = text.size();
  std::vector<std::uint32_t> equal(size + 1), compared(size);  // equal letters from i and from j on, row by row of i
  for (std::size_t i = size; i-- != 0;) {
    for (std::size_t j = 0; j != size; ++j) {  // ascending: equal[j + 1] is still that of i + 1
      equal[j] = text[i] == text[j] ? equal[j + 1] + 1 : 0;
      if (i != j) compared[i] += equal[j] + 1;
    }
  }
  double const all = std::accumulate(compared.begin(), compared.end(), 0.);
  heist::sim::program_builder b{"ssf"};
  struct part {
    std::uint32_t task;
    std::size_t first, last;
  };
  std::uint32_t const root = b.add_tree();
  for (std::uint32_t i = 1; i < repetitions; ++i) b.again(root);
  std::vector<part> open{{root, 0, size}};
  while (!open.empty()) {
    part const now = open.back();
    open.pop_back();
    b.begin(now.task, 1);
    if (now.last - now.first == 1) {
      b.work(static_cast<heist::sim::ticks>(compared[now.first] / all * cycles));
      continue;
    }
    std::size_t const middle = now.first + (now.last - now.first) / 2;
    std::uint32_t const children = b.fork(2);
    open.push_back({children, now.first, middle});
    open.push_back({children + 1, middle, now.last});
  }
  return b.finish();
}

/// stress and ssf have all sizes of Table 1, and cholesky has all but the two largest. fib and nqueens are smaller. One UTS
/// tree is as large as T3, and one has 2025 nodes.
inline std::vector<program> programs(request const& wanted) {
  struct row {
    std::uint32_t size;
    double parallelism, kilocycles, kilocycles_between_steals;
  };
  constexpr std::array<row, 5> of_stress{
      {{10, 59.7, 601, 3}, {11, 102.7, 1201, 3}, {12, 170.6, 2402, 5}, {13, 269.5, 4805, 7}, {14, 480.5, 9610, 11}}};
  constexpr std::array<row, 5> of_ssf{{{12, 52.9, 928, 9},
                                       {13, 104.1, 2661, 18},
                                       {14, 192.1, 7591, 36},
                                       {15, 344, 21557, 77},
                                       {16, 584.8, 60908, 179}}};
  constexpr std::array<row, 3> of_cholesky{{{125, 10.4, 42841, 11}, {250, 26, 280848, 16}, {500, 71, 2073750, 31}}};
  std::vector<program> all;
  for (auto const& r : of_cholesky) {
    if (wanted.quick && r.size > 125) break;
    std::uint32_t const repetitions = wanted.quick ? 1 : 2000 / r.size / (r.size / 125);
    all.push_back({fmt::format("cholesky {}", r.size),
                   cholesky_tree{r.size, 4, wanted.seed}.program(1000 * r.kilocycles, repetitions), r.parallelism,
                   repetitions * r.kilocycles / r.kilocycles_between_steals});
  }
  for (auto const& r : of_stress) {
    if (wanted.quick && r.size > 10) break;
    std::uint32_t const repetitions = wanted.quick ? 2 : 1u << (16 - r.size);
    all.push_back({fmt::format("stress {}", r.size),
                   heist::sim::stress({.height = r.size, .leaf = 256, .repetitions = repetitions}), r.parallelism,
                   repetitions * r.kilocycles / r.kilocycles_between_steals});
  }
  for (auto const& r : of_ssf) {
    if (wanted.quick && r.size > 12) break;
    std::uint32_t const repetitions = wanted.quick ? 2 : 4u << (16 - r.size);
    all.push_back({fmt::format("ssf {}", r.size), substring_finder(r.size, 1000 * r.kilocycles, repetitions),
                   r.parallelism, repetitions * r.kilocycles / r.kilocycles_between_steals});
  }
  auto const steals = [](heist::sim::program const& p, double kilocycles_between) {
    return static_cast<double>(p.work()) / (1000 * kilocycles_between);
  };
  // The paper has fib 43 and 13 queens, with 500 and 300 times as many tasks.
  auto const small_fib = fib(wanted.quick ? 12 : 30);
  all.push_back({wanted.quick ? "fib 12" : "fib 30", small_fib, 110982.2, 0});
  auto const few_queens = queens(wanted.quick ? 6 : 10);
  all.push_back({wanted.quick ? "nqueens 6" : "nqueens 10", few_queens, 27140.4, 0});
  // This tree has 4,820,873 nodes and 1546 levels, T3 has 4,112,897 and 1572.
  auto const t3 = heist::sim::uts(
      {.root_children = wanted.quick ? 20u : 2000u, .node = heist::sim::fixed(2329), .seed = wanted.quick ? 1u : 10u});
  all.push_back({"uts, like T3", t3, 682.4, steals(t3, 27)});
  all.push_back({"uts, joins park", t3, 682.4, steals(t3, 27), true});
  all.push_back(
      {"uts, small",
       heist::sim::uts({.root_children = wanted.quick ? 10u : 200u, .node = heist::sim::fixed(2329), .seed = 1}), 0,
       0});
  return all;
}

}  // namespace papers::wool
