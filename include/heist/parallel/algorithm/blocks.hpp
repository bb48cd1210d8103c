// Bodies of loops with their types: blocks of iterations, without and with a result.
#pragma once

#include <cstddef>  // size_t
#include <optional>
#include <utility>  // forward, move

#include "heist/core/base/unique_ptr.hpp"
#include "heist/parallel/algorithm/loop.hpp"
#include "heist/parallel/algorithm/place.hpp"

namespace heist::detail {

template <class Context, class Block>
struct block_body : loop_body<Context> {
  explicit block_body(Block& b) noexcept : loop_body<Context>{&call}, block{b} {}
  static void call(loop_body<Context>& self, Context const* c, void*, std::size_t lo, std::size_t hi) {
    static_cast<block_body&>(self).block(c, lo, hi);
  }
  Block& block;
};

/// Calls `block(c, lo, hi)` for blocks that make up [0, n). Returns and throws as run_loop().
template <class On, class Block>
bool run_blocks(On& on, std::size_t n, loop_options const& wanted, Block&& block, bool needs_context = false) {
  block_body<loop_context<On>, std::remove_reference_t<Block>> body{block};
  return detail::run_loop(on, n, body, wanted, nullptr, needs_context);
}

/// As run_blocks, for what must not be left half done.
template <class On, class Block>
void run_all_blocks(On& on, std::size_t n, loop_options const& wanted, Block&& block, bool needs_context = false) {
  if (!detail::run_blocks(on, n, wanted, block, needs_context)) throw_stopped();
}

template <class Context, class R, class Block, class Join>
struct folding_body : loop_body<Context> {
  folding_body(Block& b, Join& j) noexcept : loop_body<Context>{&call, &make, &put}, block{b}, join{j} {}

  static void call(loop_body<Context>& self, Context const*, void* result, std::size_t lo, std::size_t hi) {
    static_cast<folding_body&>(self).block(*static_cast<R*>(result), lo, hi);
  }
  static void* make(loop_body<Context>&) { return new R{}; }
  static void put(loop_body<Context>& self, void* result, void* made) {
    unique_ptr<R> const owned{static_cast<R*>(made)};
    if (result != nullptr) static_cast<folding_body&>(self).join(*static_cast<R*>(result), *owned);
  }
  Block& block;
  Join& join;
};

/// Calls `block(result, lo, hi)`, which adds those iterations to a result, and `join(result, other)`, which adds one to
/// another. Where the range is cut, and in which order results are added, is not the same each time. `R{}` is the
/// result of nothing.
template <class R, class On, class Block, class Join>
R fold_blocks(On& on, std::size_t n, loop_options const& wanted, Block&& block, Join&& join) {
  R result{};
  folding_body<loop_context<On>, R, std::remove_reference_t<Block>, std::remove_reference_t<Join>> body{block, join};
  if (!detail::run_loop(on, n, body, wanted, &result, false)) throw_stopped();
  return result;
}

/// The first i of [lo, hi) for which is_it(i) is true, or hi. Four tests a round, as std::find has.
template <class IsIt>
HEIST_ALWAYS_INLINE std::size_t first_in_block(IsIt const& is_it, std::size_t lo, std::size_t hi) {
  for (std::size_t const fours = hi - (hi - lo) % 4; lo != fours; lo += 4) {
    if (is_it(lo)) return lo;
    if (is_it(lo + 1)) return lo + 1;
    if (is_it(lo + 2)) return lo + 2;
    if (is_it(lo + 3)) return lo + 3;
  }
  while (lo != hi && !is_it(lo)) ++lo;
  return lo;
}

template <class Context, class FirstIn>
struct finding_body : loop_body<Context> {
  explicit finding_body(FirstIn& f) noexcept : loop_body<Context>{&call}, first_in{f} { this->in_order = true; }
  static void call(loop_body<Context>& self, Context const*, void*, std::size_t lo, std::size_t hi) {
    if (std::size_t const at = static_cast<finding_body&>(self).first_in(lo, hi); at != hi) self.end_at(at);
  }
  FirstIn& first_in;
};

/// The first index of [0, n) that is found, or n. `first_in(lo, hi)` returns the first there, or hi.
template <class On, class FirstIn>
std::size_t find_index(On& on, std::size_t n, loop_options const& wanted, FirstIn&& first_in) {
  finding_body<loop_context<On>, std::remove_reference_t<FirstIn>> body{first_in};
  if (!detail::run_loop(on, n, body, wanted, nullptr, false)) throw_stopped();
  return body.end.load(std::memory_order_relaxed);  // relaxed: after the joins
}

}  // namespace heist::detail
