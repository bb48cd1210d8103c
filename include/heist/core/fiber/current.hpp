// Which worker is this thread? The one thread-local variable of heist and its one accessor.
#pragma once

#include <signal.h>  // sigaltstack

#include <cstddef>  // size_t
#include <cstdint>

#include "heist/core/base/config.hpp"

namespace heist::detail {

struct transfer_loop;
struct worker;

/// Lies at the lower end of the stack for signal handlers of a worker's thread, of which the kernel tells the size and
/// the address: so another copy of this header (in a shared library) that asks on the thread finds the worker.
struct worker_sign {
  /// Copies with another number lay out a worker in another way, and do not find it.
  static constexpr std::uint64_t layout = 0x68656973742e7701 + (native_switch ? 0 : 1);
  /// No other stack's size has these bits, so only ours are looked at.
  static constexpr std::size_t size_bits = 0xfff, size_mark = 0x5a8;

  std::uint64_t kind;
  void const* here;  ///< its own address: it is no copy of another thread's memory
  worker* of;
};

inline worker* worker_by_sign() noexcept {
  stack_t handlers{};
  if (::sigaltstack(nullptr, &handlers) != 0 || (handlers.ss_flags & SS_DISABLE) != 0 ||
      (handlers.ss_size & worker_sign::size_bits) != worker_sign::size_mark)
    return nullptr;
  auto const* const sign = static_cast<worker_sign const*>(handlers.ss_sp);
  return sign->kind == worker_sign::layout && sign->here == sign ? sign->of : nullptr;
}

struct thread_place {
  worker* on;                     ///< the worker that the thread is, or null outside
  bool known;                     ///< otherwise not asked yet; a thread is a worker from its start to its end, or never
  transfer_loop* innermost_loop;  ///< the loop that runs on the thread outside of fibers, or null
};
HEIST_ONE_COPY inline thread_local constinit thread_place place_of_this_thread{nullptr, false, nullptr};

HEIST_COLD inline worker* find_this_worker() noexcept {
  place_of_this_thread.on = worker_by_sign();
  place_of_this_thread.known = true;
  return place_of_this_thread.on;
}

/// The worker that the calling thread is, or null outside. Never keep it across a fork, a join or a wait: the code may
/// resume on another thread. It is not inlined, since a compiler may keep the address of a thread-local in a register.
HEIST_NOINLINE inline worker* this_worker() noexcept {
  asm volatile("" ::: "memory");
  thread_place const& place = place_of_this_thread;
  return place.known ? place.on : find_this_worker();
}

HEIST_NOINLINE inline void set_this_worker(worker* w) noexcept {
  asm volatile("" ::: "memory");
  place_of_this_thread.on = w;
  place_of_this_thread.known = true;
}

/// The transfer loop of the calling thread, which is no worker.
HEIST_NOINLINE inline transfer_loop*& innermost_loop_outside() noexcept {
  asm volatile("" ::: "memory");
  return place_of_this_thread.innermost_loop;
}

}  // namespace heist::detail
