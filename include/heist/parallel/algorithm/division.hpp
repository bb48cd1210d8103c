// When a loop's piece is to be divided: has a thief asked for work where the loop runs?
#pragma once

#include <cstddef>  // size_t

#include "heist/core/base/config.hpp"
#include "heist/core/executor/context.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/core/scheduler/worker.hpp"

namespace heist::detail {

/// How the frame of a context divides loops.
enum class split_mode {
  tasks,          ///< when its fiber's task stack was asked
  continuations,  ///< when its worker's continuations were asked
  fixed           ///< always in the same way: its policy remembers the parts
};

/// The caller keeps the answer: a frame does not change its ways.
split_mode split_mode_of(context const& c) noexcept;

/// Has a thief found nothing since the last fork, or is nothing there to be found, or do requests wait? One or two
/// loads.
HEIST_ALWAYS_INLINE bool asked(context const& c, split_mode how) noexcept {
  fiber& self = context_access::fiber_of(c);
  if (how == split_mode::tasks) return !self.tasks.fork_is_plain(self.tasks.first());
  worker& w = *self.worker;
  return !w.continuations.fork_is_plain(w.continuations.first());
}

inline std::size_t workers_of(context const& c) noexcept {
  return context_access::fiber_of(c).scheduler.worker_count;
}
/// How many may take a piece of a part that is not divided further, at most.
std::size_t workers_of_part(context const& c, split_mode how) noexcept;

// Other contexts (they measure or record) see the same division on every machine.

template <class Context>
split_mode split_mode_of(Context const&) noexcept {
  return split_mode::fixed;
}
template <class Context>
bool asked(Context const&, split_mode) noexcept {
  return false;
}
template <class Context>
std::size_t workers_of(Context const&) noexcept {
  return 16;
}
template <class Context>
std::size_t workers_of_part(Context const& c, split_mode) noexcept {
  return workers_of(c);
}

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/parallel/algorithm/division.ipp"
#endif
