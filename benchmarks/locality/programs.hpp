// The programs of CAB (Table III) and CATS (Table 1).
#pragma once

#include <string_view>
#include <tuple>

#include "../../examples/kernels/cholesky.hpp"
#include "../../examples/kernels/fft.hpp"
#include "../../examples/kernels/mandelbrot.hpp"
#include "../../examples/kernels/nqueens.hpp"
#include "checkers.hpp"
#include "complete_runs.hpp"
#include "components.hpp"
#include "ge.hpp"
#include "heat.hpp"
#include "heat_line.hpp"
#include "knapsack.hpp"
#include "mergesort.hpp"
#include "program.hpp"
#include "sor.hpp"
#include "sweeping.hpp"

namespace locality {

namespace detail {

constexpr description unbalanced(description d, std::string_view name, std::string_view problem) {
  d.name = name;
  d.problem = problem;
  return d;
}

constexpr description of_kernel(kernels::description const& k, std::string_view name, bound_by bound) {
  return {.name = name,
          .problem = k.problem,
          .size_means = k.size_means,
          .bound = bound,
          .smallest = k.smallest,
          .largest = k.largest,
          .test = k.test,
          .usual = k.usual,
          .leaf = 0,
          .steps = 5,
          .stack = k.stack};
}

}  // namespace detail

/// Divided into a balanced tree.
template <class Problem>
struct in_halves : sweeping<Problem, halves> {
  static constexpr description about = Problem::about;
  using sweeping<Problem, halves>::sweeping;
};
using heat_in_a_line = in_halves<heat_line>;
using heat = in_halves<heat_plate>;
using sor = in_halves<sor_plate>;
using ge = in_halves<ge_matrix>;
using ga = in_halves<components>;

struct heat_ub : sweeping<heat_plate, halves_or_quarters> {
  static constexpr description about =
      detail::unbalanced(heat_plate::about, "heat-ub", "heat, divided into an unbalanced tree (CATS, Algorithm 1)");
  using sweeping::sweeping;
};
struct sor_ub : sweeping<sor_plate, halves_or_quarters> {
  static constexpr description about =
      detail::unbalanced(sor_plate::about, "sor-ub", "sor, divided into an unbalanced tree");
  using sweeping::sweeping;
};
struct ge_ub : sweeping<ge_matrix, halves_or_quarters> {
  static constexpr description about =
      detail::unbalanced(ge_matrix::about, "ge-ub", "ge, divided into an unbalanced tree");
  using sweeping::sweeping;
};

struct merge_sorting : complete_runs<mergesort> {
  static constexpr description about = detail::of_kernel(mergesort::about, "mergesort", bound_by::memory);
  using complete_runs::complete_runs;
};

struct queens : complete_runs<kernels::nqueens> {
  static constexpr description about = detail::of_kernel(kernels::nqueens::about, "queens", bound_by::cpu);
  using complete_runs::complete_runs;
};
struct fft : complete_runs<kernels::fft> {
  static constexpr description about = detail::of_kernel(kernels::fft::about, "fft", bound_by::cpu);
  using complete_runs::complete_runs;
};
struct cholesky : complete_runs<kernels::cholesky> {
  static constexpr description about = detail::of_kernel(kernels::cholesky::about, "cholesky", bound_by::cpu);
  using complete_runs::complete_runs;
};
struct checkers_games : complete_runs<checkers> {
  static constexpr description about = detail::of_kernel(checkers::about, "checkers", bound_by::cpu);
  using complete_runs::complete_runs;
};
struct mandelbrot : complete_runs<kernels::mandelbrot> {
  static constexpr description about = detail::of_kernel(kernels::mandelbrot::about, "mandelbrot", bound_by::cpu);
  using complete_runs::complete_runs;
};
struct knapsack : complete_runs<fixed_knapsack> {
  static constexpr description about = detail::of_kernel(fixed_knapsack::about, "knapsack", bound_by::cpu);
  using complete_runs::complete_runs;
};

using all_programs = std::tuple<heat_in_a_line, heat, heat_ub, sor, sor_ub, ge, ge_ub, merge_sorting, queens, fft,
                                cholesky, checkers_games, mandelbrot, ga, knapsack>;

/// Calls f.operator()<Program>() for every program.
template <class F>
void for_each_program(F&& f) {
  [&]<program... P>(std::tuple<P...>*) {
    (f.template operator()<P>(), ...);
  }
  (static_cast<all_programs*>(nullptr));
}

}  // namespace locality
