// Which worker is this thread? The one thread-local variable of heist and its one accessor.
#pragma once

#include "heist/base/config.hpp"

namespace heist::detail {

struct worker;

inline thread_local constinit worker* worker_of_this_thread = nullptr;

/// The worker that the calling thread is, or null outside. Not inlined, and never to be kept across a fork, a join or a
/// wait: the code may go on on another thread, and a compiler may keep the address of a thread-local in a register.
HEIST_NOINLINE inline worker* this_worker() noexcept {
  asm volatile("" ::: "memory");
  return worker_of_this_thread;
}

HEIST_NOINLINE inline void set_this_worker(worker* w) noexcept {
  asm volatile("" ::: "memory");
  worker_of_this_thread = w;
}

}  // namespace heist::detail
