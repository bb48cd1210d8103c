// Programs of Wool's section 5.1, with their figures from its Table 1.
#pragma once

#include <heist/simulate.hpp>

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "report.hpp"

namespace papers::wool {

/// A program of section 5.1, with its figures from Table 1. 0: Table 1 has no figure.
struct program {
  std::string name;
  heist::sim::program tasks;
  double parallelism;   ///< t1 / t_inf with 1000 cycles of stealing
  double steals_by_63;  ///< t1 / the average steal interval
};

/// The paper's bounds on the speedup of p workers, computed from t1 / t_inf. The slow end is t1 / (t_inf + t1 / p), the
/// fast end is t1 / max(t_inf, t1 / p).
inline double slow_end(double parallelism, double p) {
  return 1 / (1 / parallelism + 1 / p);
}
inline double fast_end(double parallelism, double p) {
  return parallelism < p ? parallelism : p;
}

/// stress of all heights in Table 1, a UTS tree like T3, and a UTS tree of 2025 nodes.
inline std::vector<program> programs(request const& wanted) {
  struct row {
    std::uint32_t height;
    double parallelism, kilocycles, kilocycles_between_steals;
  };
  constexpr std::array<row, 5> table_1{
      {{10, 59.7, 601, 3}, {11, 102.7, 1201, 3}, {12, 170.6, 2402, 5}, {13, 269.5, 4805, 7}, {14, 480.5, 9610, 11}}};
  std::vector<program> all;
  for (auto const& r : table_1) {
    if (wanted.quick && r.height > 10) break;
    std::uint32_t const repetitions = wanted.quick ? 2 : 1u << (16 - r.height);
    all.push_back({fmt::format("stress {}", r.height),
                   heist::sim::stress({.height = r.height, .leaf = 256, .repetitions = repetitions}), r.parallelism,
                   repetitions * r.kilocycles / r.kilocycles_between_steals});
  }
  // T3 has 12 times as many nodes, and about the same parallelism.
  auto const t3 = heist::sim::uts(
      {.root_children = wanted.quick ? 20u : 2000u, .node = heist::sim::fixed(2329), .seed = wanted.quick ? 1u : 2u});
  constexpr double kilocycles_between_steals = 27;
  all.push_back({"uts, like T3", t3, 682.4, static_cast<double>(t3.work()) / (1000 * kilocycles_between_steals)});
  all.push_back(
      {"uts, small",
       heist::sim::uts({.root_children = wanted.quick ? 10u : 200u, .node = heist::sim::fixed(2329), .seed = 1}), 0,
       0});
  return all;
}

}  // namespace papers::wool
