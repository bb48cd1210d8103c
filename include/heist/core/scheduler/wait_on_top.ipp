// How a join waits for which there is no stack to continue with (README.md, "Parking"). Bodies of fiber.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <utility>  // exchange

#include "heist/core/scheduler/core.hpp"

namespace heist::detail {

/// A task that is run on top of a waiting frame: the fiber's notes on the frame's own task do not hold for it.
class fiber::on_top {
 public:
  explicit on_top(fiber& self) noexcept
      : none_{self, nullptr},
        unknown_{self},
        no_loop_{self},
        of_{self},
        resumes_{std::exchange(self.resumes, nullptr)},
        modes_{self.scheduler.modes()} {
    ++self.tasks_on_top;
  }
  on_top(on_top const&) = delete;
  on_top& operator=(on_top const&) = delete;
  ~on_top() {
    of_.resumes = resumes_;
    --of_.tasks_on_top;
  }

 private:
  interrupted_by const none_;
  outside_its_task const unknown_;
  outside_its_loop const no_loop_;
  fiber& of_;
  resume_rule* const resumes_;
  in_modes const modes_;
};

/// There is no memory for a stack, at a join that cannot be refused. Runs tasks on top of the waiting frame until the
/// wait is over, as long as much of the stack is left. Naps when there is no task. True if it has parked after all.
HEIST_COLD_BODY bool fiber::wait_on_top(completion& c, wait_reason const& why) {
  runnable* t = nullptr;
  for (std::uint32_t in_vain = 0; t != nullptr || !c.is_ready();) {
    if (t == nullptr) t = take_on_top();
    if (t == nullptr) {
      scheduler.flush(*worker);
      if (scheduler.limit != nullptr) scheduler.limit->search(*worker);
      os_env::nap(in_vain++);
      continue;
    }
    in_vain = 0;
    if (t->run == &resume) {  // there is a fiber to continue with, after all
      fiber& next = *static_cast<resumption&>(*t).self;
      next.notify_returned(*worker);
      park(c, next, why);
      return true;
    }
    on_top const now{*this};
    t = t->run(*t, *this);
  }
  return false;
}

/// Something for wait_on_top(): anything, but only fibers when little of the stack is left.
HEIST_COLD_BODY runnable* fiber::take_on_top() {
  if (fiber_context_.memory().left_below(__builtin_frame_address(0)) < fiber_context_.memory().usable() / 2) {
    for (auto const& stolen_from : scheduler.workers) {
      for (std::size_t n = stolen_from->deque.size_snapshot(); n != 0; --n) {
        runnable* const t = stolen_from->deque.steal().item;
        if (t == nullptr) break;
        if (t->run == &resume) return t;
        scheduler.push(*worker, *t);  // where other workers find it
      }
    }
    return scheduler.take_own(*worker);
  }
  if (runnable* const t = worker->deque.pop(); t != nullptr) return t;
  if (runnable* const t = scheduler.take_request(*worker); t != nullptr) return t;
  for (auto const& stolen_from : scheduler.workers) {
    if (runnable* const t = stolen_from->deque.steal().item; t != nullptr) return t;
    if (runnable* const t = stolen_from->loops.enter(); t != nullptr) return t;
  }
  return scheduler.take_submitted(
      *worker);  // what must run here, last: a helper's leave comes again until the wait is over
}

}  // namespace heist::detail
