// The programs of the paper (Table I).
#pragma once

#include <concepts>
#include <cstddef>  // size_t
#include <limits>
#include <string>
#include <tuple>

#include "blocks.hpp"
#include "cg.hpp"
#include "fdtd.hpp"
#include "floyd_warshall.hpp"
#include "heat.hpp"
#include "mg.hpp"
#include "prefix.hpp"

namespace replay {

/// A step is one phase after the other, each in a region of its own: run(region, box, block, work).
// clang-format off
template <class P>
concept phases = requires(P p, P const c, std::size_t step) {
  { P::about } -> std::convertible_to<locality::description>;
  P{locality::settings{}};
  p.prepare();
  { c.regions() } -> std::convertible_to<std::size_t>;
  { c.block() } -> std::same_as<block_size>;
  p.step(in_sequence{}, step);
  { c.work(step) } -> std::convertible_to<double>;
  { c.bytes() } -> std::same_as<std::size_t>;
  c.result(step);
  { c.check(step) } -> std::same_as<std::string>;
};
// clang-format on

/// With what comparisons ask of every program.
template <phases P>
class program : public P {
 public:
  using P::P;

  void restart() {}
  void serial_step(std::size_t step) {
    if constexpr (requires { P::serial_step(step); }) {
      P::serial_step(step);
    } else {
      P::step(in_sequence{}, step);
    }
  }
  std::size_t most_steps() const { return std::numeric_limits<std::size_t>::max(); }

  /// Regions whose phases have the same box begin with the same tree.
  static constexpr bool one_tree = !std::is_same_v<P, mg>;
  /// A sweep's parts are rows, so that the worker of each row can be recorded.
  static constexpr bool by_rows = std::is_same_v<P, heat>;
};

using all_programs =
    std::tuple<program<heat>, program<fdtd>, program<floyd_warshall>, program<cg>, program<mg>, program<prefix>>;

/// Calls f.operator()<Program>() for every program.
template <class F>
void for_each_program(F&& f) {
  [&]<class... P>(std::tuple<P...>*) { (f.template operator()<P>(), ...); }(static_cast<all_programs*>(nullptr));
}

}  // namespace replay
