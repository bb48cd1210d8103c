// Shared parts of the programs: their descriptions, settings, ranges of rows.
#pragma once

#include <concepts>
#include <cstddef>  // size_t
#include <string>
#include <string_view>

#include "../../examples/kernels/kernel.hpp"

namespace locality {

using kernels::random_numbers;
using kernels::serial_context;

enum class bound_by { memory, cpu };

/// Sizes are what settings::size takes.
struct description {
  std::string_view name;
  std::string_view problem;
  std::string_view size_means;
  bound_by bound = bound_by::memory;
  std::size_t smallest, largest;
  std::size_t test;        ///< milliseconds, also under a sanitizer
  std::size_t usual;       ///< memory-bound: a working set of two mebibytes; cpu-bound: some tenths of a second
  std::size_t leaf = 0;    ///< most rows, or whatever is divided, of a leaf task; 0: not for the user to say
  std::size_t steps = 10;  ///< timed steps
  std::size_t stack = std::size_t{1} << 20;
};

struct settings {
  std::size_t size;
  std::size_t leaf;
};

/// Rows, or whatever else a program divides: [first, last).
struct range {
  std::size_t first, last;

  std::size_t size() const { return last - first; }
  range from(std::size_t offset, std::size_t count) const { return {first + offset, first + offset + count}; }
};

/// The notes of a step about its leaves for callers that need none.
struct no_notes {
  template <class Context>
  void operator()(Context, std::size_t, range) const {}
};

/// A program of one size, which works in steps: those of an iteration, or complete runs. A step is entered through a
/// region; restart() comes before each step and is not timed.
// clang-format off
template <class P>
concept program = requires(P p, P const c, std::size_t step) {
  { P::about } -> std::convertible_to<description>;
  { P::branching } -> std::convertible_to<std::size_t>;
  P{settings{}};
  p.prepare();                                          // the data before the first step
  p.restart();
  p.step(serial_context{}, step, no_notes{});
  p.serial_step(step);                                  // the same by plain loops
  { c.most_steps() } -> std::same_as<std::size_t>;
  { c.work(step) } -> std::convertible_to<double>;      // elements computed in a step; 1 for complete runs
  { c.bytes() } -> std::same_as<std::size_t>;           // the working set; 0 if that is of no interest
  { c.result(step) == c.result(step) } -> std::convertible_to<bool>;  // after so many steps
  { c.check(step) } -> std::same_as<std::string>;       // by other means than the serial version; empty: right
};
// clang-format on

/// Programs of one array of numbers, or several: the largest size that needs no more than `bytes`.
template <class P>
std::size_t size_for_bytes(std::size_t bytes) {
  std::size_t low = P::about.smallest, high = P::about.largest;
  while (low < high) {
    std::size_t const middle = low + (high - low + 1) / 2;
    if (P::bytes_for(middle) <= bytes) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace locality
