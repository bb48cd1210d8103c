// Threads from outside that work for a while: they carry a worker that sleeps (README.md, "Helpers").
#pragma once

#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/core/executor/async.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/core/scheduler/slot.hpp"
#include "heist/core/scheduler/worker.hpp"

namespace heist::detail {

/// One run_here(); lives on the helper's stack.
struct helper : queued_runnable {
  helper(worker& borrowed, async_base& its_task) noexcept
      : queued_runnable{{&leave_loop, nullptr}, nullptr}, of{&borrowed}, task{&its_task} {}

  worker* of;
  async_base* task;
  fiber_context created;                  ///< the stack that the thread came with
  fiber_context* boot_of_host = nullptr;  ///< where the worker's own thread began
  fiber* sleeps_on = nullptr;             ///< the fiber on which that sleeps
  fiber* left = nullptr;                  ///< the fiber that the helper was on last

  static int begin(void* self, void* me) noexcept;
  static runnable* leave_loop(runnable& task, fiber& self);
  void flush(fiber& self) noexcept;
  template <bool Unused>
  static void after_leaving(void* me) noexcept;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/executor/helper.ipp"
#endif
