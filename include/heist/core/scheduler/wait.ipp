// Bodies of wait.hpp.
#pragma once

#include "heist/core/scheduler/wait.hpp"

#include "heist/core/fiber/current.hpp"

namespace heist::detail {

/// Lives while a task waits for something that it has not forked: the rule that says where it is resumed may have to
/// let other tasks in, since the wait may depend on them.
class outside_wait {
 public:
  explicit outside_wait(fiber& self) noexcept : rule_{self.rule_of_task()} {
    if (rule_ != nullptr) token_ = rule_->wait_outside_begins();
  }
  outside_wait(outside_wait const&) = delete;
  outside_wait& operator=(outside_wait const&) = delete;
  ~outside_wait() {
    if (rule_ != nullptr) rule_->wait_outside_ends(token_);
  }

 private:
  resume_rule* rule_;
  void* token_ = nullptr;
};

HEIST_COLD_BODY outside_waits& threads_that_wait() noexcept {
  static constinit outside_waits all;
  return all;
}

HEIST_COLD_BODY noted_thread::noted_thread(wait_reason const& why) noexcept : outside_note{&to_text}, what_{why.what} {
  name_.copy(why.name);
  threads_that_wait().add(*this);
}

HEIST_COLD_BODY noted_thread::~noted_thread() {
  threads_that_wait().remove(*this);
}

HEIST_COLD_BODY std::string noted_thread::to_text(outside_note const& self) {
  auto const& me = static_cast<noted_thread const&>(self);
  return std::string{"a thread outside of all executors waits for "} + me.what_ + (me.name_.text[0] != 0 ? " " : "") +
         me.name_.text + wait_text(me.since);
}

HEIST_COLD_BODY void wait_outside(completion& c, wait_reason const& why) noexcept {
  thread_waiter<> me;
  if (!c.add_entry(me)) return;
  noted_thread const noted{why};
  me.wait();
}

/// Returns when `c` is complete: inside a task by `park(fiber)`, outside by blocking the thread.
template <class Park>
void wait_wherever(completion& c, unsigned generation, wait_reason const& why, Park park) {
  if (c.is_ready()) return;
  core::check_process(generation);
  if (worker* const w = this_worker(); w != nullptr) {
    fiber& self = *w->current.load(std::memory_order_relaxed);  // relaxed: its own
    outside_wait const told{self};
    park(self);
    return;
  }
  wait_outside(c, why);
}

HEIST_COLD_BODY void wait_for(completion& c, unsigned generation, wait_reason const& why) {
  wait_wherever(c, generation, why, [&](fiber& self) { self.wait_or_throw(c, why); });
}

HEIST_COLD_BODY bool wait_for(completion& c, unsigned generation, wait_reason const& why, wait_check& check) {
  bool completed = true;
  wait_wherever(c, generation, why, [&](fiber& self) { completed = self.wait_or_throw(c, why, check); });
  return completed;
}

HEIST_COLD_BODY void wait_to_the_end(completion& c, unsigned generation, wait_reason const& why) {
  wait_wherever(c, generation, why, [&](fiber& self) { self.wait_for(c, why); });
}

}  // namespace heist::detail
