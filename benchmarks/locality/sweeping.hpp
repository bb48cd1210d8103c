// Iterative programs that sweep over their rows, once or more in a step: all rows of one sweep may be computed at the
// same time.
#pragma once

#include <concepts>
#include <cstddef>  // size_t
#include <string>

#include "division.hpp"
#include "program.hpp"
#include "regions.hpp"

namespace locality {

/// A problem that is swept over. Sweeps are numbered from 0, through all steps.
// clang-format off
template <class P>
concept sweep_problem = requires(P p, P const c, std::size_t sweep, range rows) {
  { P::about } -> std::convertible_to<description>;
  { P::sweeps_per_step } -> std::convertible_to<std::size_t>;
  P{sweep};                                                       // of that size
  p.prepare();
  { c.most_sweeps() } -> std::same_as<std::size_t>;
  { c.rows(sweep) } -> std::same_as<range>;
  p.compute(sweep, rows);                                         // one leaf
  { c.work(sweep) } -> std::convertible_to<double>;
  { c.touched(sweep, rows) } -> std::same_as<std::size_t>;        // bytes, by one leaf
  c.result(sweep);
  { c.check(sweep) } -> std::same_as<std::string>;
};
// clang-format on

/// The program that divides each sweep over a problem into tasks in this way.
template <sweep_problem Problem, class Division>
class sweeping {
 public:
  static constexpr std::size_t branching = Division::branching;
  static constexpr std::size_t sweeps_per_step = Problem::sweeps_per_step;
  static std::size_t bytes_for(std::size_t size) { return Problem::bytes_for(size); }

  explicit sweeping(settings const& s) : problem_{s.size}, bytes_{Problem::bytes_for(s.size)}, leaf_{s.leaf} {}

  void prepare() { problem_.prepare(); }
  void restart() {}

  template <class Context, class Notes>
  void step(Context ctx, std::size_t step, Notes const& notes) {
    for (std::size_t i = 0; i < sweeps_per_step; ++i) {
      std::size_t const sweep = step * sweeps_per_step + i;
      Division::divide(ctx, rows(sweep), leaf_, [&, sweep](Context c, range part) {
        footprint(c, problem_.touched(sweep, part));
        notes(c, sweep, part);
        problem_.compute(sweep, part);
      });
    }
  }
  void serial_step(std::size_t step) {
    for (std::size_t i = 0; i < sweeps_per_step; ++i) {
      std::size_t const sweep = step * sweeps_per_step + i;
      problem_.compute(sweep, rows(sweep));
    }
  }

  std::size_t most_steps() const { return problem_.most_sweeps() / sweeps_per_step; }
  double work(std::size_t step) const {
    double sum = 0;
    for (std::size_t i = 0; i < sweeps_per_step; ++i) sum += problem_.work(step * sweeps_per_step + i);
    return sum;
  }
  std::size_t bytes() const { return bytes_; }
  decltype(auto) result(std::size_t steps) const { return problem_.result(steps * sweeps_per_step); }
  std::string check(std::size_t steps) const { return problem_.check(steps * sweeps_per_step); }

  // For code that places blocks by hand, or records which worker computed each block.

  std::size_t leaf() const { return leaf_; }
  std::size_t levels() const { return Division::levels(rows(0).size(), leaf_); }
  range rows(std::size_t sweep) const { return problem_.rows(sweep); }
  void compute(std::size_t sweep, range part) { problem_.compute(sweep, part); }

 private:
  Problem problem_;
  std::size_t bytes_;
  std::size_t leaf_;
};

}  // namespace locality
