// A phase as a tree of tasks: a box of rows and columns, divided into blocks.
#pragma once

#include <algorithm>  // clamp
#include <cstddef>    // size_t

#include "../locality/program.hpp"

namespace replay {

using locality::range;
using locality::serial_context;

struct box {
  range rows;
  range columns{0, 1};
};

/// Dynamic coarsening starts from blocks of so much fewer rows, and columns.
inline constexpr std::size_t finer = 8;

/// Rows and columns of a block.
struct block_size {
  std::size_t rows, columns = 1;

  static std::size_t count(std::size_t size, std::size_t of) { return (size + of - 1) / of; }
};

inline bool is_block(box const& b, block_size s) {
  return b.rows.size() <= s.rows && b.columns.size() <= s.columns;
}

struct two_parts {
  box first, second;
};

/// Cuts the side that has more blocks, between blocks: `share` of `all` comes first. `b` is no block.
inline two_parts cut(box const& b, block_size s, std::size_t share = 1, std::size_t all = 2) {
  auto const length = [&](range side, std::size_t block) {
    std::size_t const blocks = block_size::count(side.size(), block);
    return block * std::clamp<std::size_t>(blocks * share / all, 1, blocks - 1);
  };
  if (block_size::count(b.rows.size(), s.rows) >= block_size::count(b.columns.size(), s.columns)) {
    std::size_t const n = length(b.rows, s.rows);
    return {{b.rows.from(0, n), b.columns}, {b.rows.from(n, b.rows.size() - n), b.columns}};
  }
  std::size_t const n = length(b.columns, s.columns);
  return {{b.rows, b.columns.from(0, n)}, {b.rows, b.columns.from(n, b.columns.size() - n)}};
}

/// The work of a phase: work(box) computes any box. An optional before(parts) runs before a division's parts, and
/// prepares their data. An optional after(parts) runs after the parts, and combines their results.
template <class Work>
void before(Work const& work, two_parts const& parts) {
  if constexpr (requires { work.before(parts); }) work.before(parts);
}
template <class Work>
void after(Work const& work, two_parts const& parts) {
  if constexpr (requires { work.after(parts); }) work.after(parts);
}

/// Tasks down to the blocks.
struct to_blocks {
  template <class Context>
  bool ends_here(Context) const {
    return false;
  }
};

/// Tasks as far down as a thief may steal: below that the sequential kernel computes the rest (section VI).
struct where_stolen {
  template <class Context>
  bool ends_here(Context ctx) const {
    return !ctx.may_be_stolen();  // locality
  }
};

/// Calls leaf(context, part) for parts that make up `b`, at most as large as a block where `depth` does not say
/// otherwise.
template <class Context, class Work, class Leaf, class Depth>
void divide(Context ctx, box const& b, block_size s, Work const& work, Leaf const& leaf, Depth depth) {
  if (is_block(b, s) || depth.ends_here(ctx)) {
    leaf(ctx, b);
    return;
  }
  two_parts const parts = cut(b, s);
  before(work, parts);
  ctx.fork_join([&](Context c) { divide(c, parts.first, s, work, leaf, depth); },
                [&](Context c) { divide(c, parts.second, s, work, leaf, depth); });
  after(work, parts);
}

/// The same, with equal parts, each in one piece, for these workers: the schedule that the user specifies. The part of
/// the worker that is here comes first, since it is the rest of a frame that is given away.
template <class Context, class Work, class Leaf>
void distribute(Context ctx, box const& b, block_size s, Work const& work, Leaf const& leaf, range workers) {
  if (workers.size() == 1 || is_block(b, s)) {  // locality
    divide(ctx, b, s, work, leaf, to_blocks{});
    return;
  }
  range const lower = workers.from(0, workers.size() / 2);                                    // locality
  range const upper{lower.last, workers.last};                                                // locality
  two_parts const parts = cut(b, s, lower.size(), workers.size());                            // locality
  auto const first = [&](Context c) { distribute(c, parts.first, s, work, leaf, lower); };    // locality
  auto const second = [&](Context c) { distribute(c, parts.second, s, work, leaf, upper); };  // locality
  before(work, parts);
  if (ctx.worker_id() < upper.first) {     // locality
    ctx.assign_continuation(upper.first);  // locality
    ctx.fork_join(first, second);
  } else {
    ctx.assign_continuation(lower.first);  // locality
    ctx.fork_join(second, first);          // locality
  }
  after(work, parts);
}

/// A phase by plain loops.
struct in_sequence {
  template <class Work>
  void operator()(std::size_t, box const& b, block_size, Work const& work) const {
    work(b);
  }
};

}  // namespace replay
