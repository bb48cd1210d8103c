// A fiber of an executor: a stack on which a worker's loop, and so every task, runs.
#pragma once

#include <memory>   // unique_ptr
#include <utility>  // move

#include "heist/fiber/flow.hpp"
#include "heist/sched/runnable.hpp"
#include "heist/sync/completion.hpp"

namespace heist::detail {

class core;
struct worker;

/// Lives as long as its executor, so that a late look at it is harmless. Either some worker runs on it, or it is parked
/// (its frames wait), or it is spare (its loop can go on with anything).
class fiber {
 public:
  /// What makes a parked fiber go on, in a deque or the master queue.
  struct resumption : queued_runnable {
    fiber* self;
  };

  fiber(core& home, stack&& memory, flow::entry start, unsigned colour)
      : home{home},
        resume_item{{{&resume, nullptr}, nullptr}, this},
        waiter_{{&wake}, this},
        flow_{std::move(memory), start, this, colour} {}

  core& home;
  worker* on = nullptr;  ///< whose worker runs on this fiber; set before each switch to it
  fiber* next_spare = nullptr;
  std::unique_ptr<fiber> next_of_all;
  resumption resume_item;

  /// Waits until `c` is complete: parks this fiber, which the caller runs on, and lets its worker go on with another.
  /// Without memory for another, the worker runs other tasks on top of the waiting frame instead.
  void wait_for(completion& c);

  flow& own_flow() noexcept { return flow_; }

  /// Goes on in `to` on this fiber's worker; this fiber becomes spare.
  void switch_and_become_spare(fiber& to);

 private:
  struct parked_waiter : completion_waiter {
    fiber* self;
  };

  static runnable* resume(runnable& self, fiber& on);
  static void wake(completion_waiter& w) noexcept;
  static void after_park(void* self) noexcept;
  static void after_leaving_spare(void* self) noexcept;

  completion* awaited_ = nullptr;
  parked_waiter waiter_;
  flow flow_;
};

}  // namespace heist::detail
