// How a range becomes a tree of tasks whose leaves compute: a balanced tree, and the unbalanced one of CATS.
#pragma once

#include <algorithm>  // max
#include <cstddef>    // size_t

#include "program.hpp"

namespace locality {

/// Two halves, down to `leaf`: the recursion of the papers' programs.
struct halves {
  static constexpr std::size_t branching = 2;

  /// Calls f(context, part) for parts of at most `leaf` that make up `r`.
  template <class Context, class F>
  static void divide(Context ctx, range r, std::size_t leaf, F const& f) {
    if (r.size() <= leaf) {
      f(ctx, r);
      return;
    }
    std::size_t const half = r.size() / 2;
    ctx.fork_join([&, half](Context c) { divide(c, r.from(0, half), leaf, f); },
                  [&, half](Context c) { divide(c, r.from(half, r.size() - half), leaf, f); });
  }

  /// Levels of tasks, with the one that divides the whole.
  static std::size_t levels(std::size_t size, std::size_t leaf) {
    return size <= leaf ? 1 : 1 + levels(size - size / 2, leaf);
  }
};

/// CATS, Algorithm 1: a task divides its range into two, or into four, and hands parts on to both kinds.
struct halves_or_quarters {
  static constexpr std::size_t branching = 2;

  template <class Context, class F>
  static void divide(Context ctx, range r, std::size_t leaf, F const& f) {
    if (is_leaf(r, leaf)) {
      f(ctx, r);
      return;
    }
    std::size_t const half = r.size() / 2;
    ctx.fork_join([&, half](Context c) { divide_by_four(c, r.from(0, half), leaf, f); },
                  [&, half](Context c) { divide(c, r.from(half, r.size() - half), leaf, f); });
  }

  static std::size_t levels(std::size_t size, std::size_t leaf) {
    return size <= std::max(leaf, min) ? 1 : 1 + levels(size - size / 2, leaf);
  }

 private:
  static constexpr std::size_t min = 4;

  static bool is_leaf(range r, std::size_t leaf) { return r.size() <= std::max(leaf, min); }

  template <class Context, class F>
  static void divide_by_four(Context ctx, range r, std::size_t leaf, F const& f) {
    if (is_leaf(r, leaf)) {
      f(ctx, r);
      return;
    }
    std::size_t const quarter = r.size() / 4;
    ctx.fork_join([&, quarter](Context c) { divide(c, r.from(0, quarter), leaf, f); },
                  [&, quarter](Context c) { divide(c, r.from(quarter, quarter), leaf, f); },
                  [&, quarter](Context c) { divide_by_four(c, r.from(2 * quarter, quarter), leaf, f); },
                  [&, quarter](Context c) { divide(c, r.from(3 * quarter, r.size() - 3 * quarter), leaf, f); });
  }
};

}  // namespace locality
