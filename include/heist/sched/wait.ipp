// Bodies of wait.hpp.
#pragma once

#include "heist/sched/wait.hpp"

#include "heist/fiber/current.hpp"

namespace heist::detail {

/// While a task waits for what it has not forked: the rule that says where it is resumed may have to let other tasks
/// in, which may be just what it waits for.
class outside_wait {
 public:
  explicit outside_wait(fiber& self) noexcept : rule_{self.rule_of_task()} {
    if (rule_ != nullptr) begun_ = rule_->wait_outside_begins();
  }
  outside_wait(outside_wait const&) = delete;
  outside_wait& operator=(outside_wait const&) = delete;
  ~outside_wait() {
    if (rule_ != nullptr) rule_->wait_outside_ends(begun_);
  }

 private:
  resume_rule* rule_;
  void* begun_ = nullptr;
};

HEIST_COLD_BODY os_env::atomic<std::uint32_t>& threads_that_wait() noexcept {
  static constinit os_env::atomic<std::uint32_t> count{0};
  return count;
}

HEIST_COLD_BODY void wait_outside(completion& c) noexcept {
  thread_waiter<> me;
  if (!c.enlist(me)) return;
  threads_that_wait().fetch_add(1, std::memory_order_relaxed);  // relaxed: for people
  me.wait();
  threads_that_wait().fetch_sub(1, std::memory_order_relaxed);  // relaxed: for people
}

/// Returns when `c` is complete: inside a task by `park(fiber)`, outside by blocking the thread.
template <class Park>
void wait_wherever(completion& c, unsigned generation, Park park) {
  if (c.done()) return;
  core::check_process(generation);
  if (worker* const w = this_worker(); w != nullptr) {
    fiber& self = *w->current.load(std::memory_order_relaxed);  // relaxed: its own
    outside_wait const told{self};
    park(self);
    return;
  }
  wait_outside(c);
}

HEIST_COLD_BODY void wait_for(completion& c, unsigned generation, wait_reason const& why) {
  wait_wherever(c, generation, [&](fiber& self) { self.wait_or_throw(c, why); });
}

HEIST_COLD_BODY bool wait_for(completion& c, unsigned generation, wait_reason const& why, wait_check& check) {
  bool waited = true;
  wait_wherever(c, generation, [&](fiber& self) { waited = self.wait_or_throw(c, why, check); });
  return waited;
}

HEIST_COLD_BODY void wait_to_the_end(completion& c, unsigned generation, wait_reason const& why) {
  wait_wherever(c, generation, [&](fiber& self) { self.wait_for(c, why); });
}

}  // namespace heist::detail
