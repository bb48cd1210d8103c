// Fork/join programs made from a seed, which note the worker of each task.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <vector>

#include "heist/core/base/random.hpp"
#include "heist/fork_join.hpp"

namespace heist_test {

/// Which worker ran which step of a program, and in which order it ran its steps.
struct tally {
  std::mutex m;
  std::map<std::uint64_t, std::size_t> ran_on;
  std::map<std::size_t, std::vector<std::uint64_t>> order;
  std::size_t twice = 0;

  void note(std::size_t worker, std::uint64_t step) {
    std::lock_guard const lock{m};
    if (!ran_on.emplace(step, worker).second) ++twice;
    order[worker].push_back(step);
  }
  std::set<std::uint64_t> steps() const {
    std::set<std::uint64_t> all;
    for (auto const& [step, worker] : ran_on) all.insert(step);
    return all;
  }
};

inline void spin(std::uint32_t n) {
  [[maybe_unused]] std::uint32_t volatile seen = 0;
  for (std::uint32_t i = 0; i != n; ++i) seen = i;
}

/// Forks of two and three, scopes of one to four, one or two of them after the other; leaves of uneven length.
struct replayed_program {
  std::uint32_t seed = 1;
  int depth = 4;
  std::uint32_t leaf = 6000;           ///< at most so many turns of a loop
  std::uint64_t throws = ~0ull;        ///< the leaf that throws
  std::size_t slow = ~std::size_t{0};  ///< a worker whose leaves take three times as long

  template <class Context>
  void operator()(Context ctx, tally& book) const {
    run(ctx, book, 1, depth);
  }

  template <class Context>
  void run(Context ctx, tally& book, std::uint64_t id, int levels) const {
    heist::fast_random random{seed * 1000003ull + id};
    if (levels == 0) {
      std::uint32_t const turns = leaf / 10 + random.below(leaf);
      spin(ctx.worker_id() == slow ? 3 * turns : turns);
      book.note(ctx.worker_id(), id * 2);
      if (id == throws) throw std::runtime_error{"a leaf"};
      return;
    }
    std::uint32_t const rounds = 1 + random.below(2);
    for (std::uint32_t r = 0; r != rounds; ++r) {
      std::uint64_t const base = id * 16 + r * 8;
      auto const child = [&, base](std::uint32_t i) {
        return [this, &book, at = base + i, levels](Context c) { run(c, book, at, levels - 1); };
      };
      switch (random.below(4)) {
        case 0:
          ctx.fork_join(child(0), child(1), child(2));
          break;
        case 1: {
          heist::scope<Context> children{ctx};
          std::uint32_t const n = 1 + random.below(4);
          for (std::uint32_t i = 0; i != n; ++i) children.fork(child(i));
          children.join();
          break;
        }
        default:
          ctx.fork_join(child(0), child(1));
      }
      book.note(ctx.worker_id(), (id * 16 + r) * 2 + 1);  // after a join
    }
  }
};

}  // namespace heist_test
