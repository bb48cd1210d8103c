// Bodies of scope_base.hpp.
#pragma once

#include "heist/core/fork/scope_base.hpp"

#include "heist/core/fork/child_first.hpp"
#include "heist/core/scheduler/core.hpp"

namespace heist::detail {

HEIST_BODY scope_base::scope_base(fiber& here, fork_slot* at, fork_way how, bool is_remote) noexcept
    : on{&here}, position{at}, way{how}, remote{is_remote} {
  if (interrupt_state const* const outer = here.interrupt; outer != nullptr) {
    stop.outer = outer;
    stop.resumes = outer->resumes;
  }
}

HEIST_BODY void scope_base::wait() {
  if (extension_scope_ != nullptr) {
    extension_scope_->wait();
  } else {
    wait_for_forked();
  }
  if (HEIST_UNLIKELY(stopped())) stop.clear();
}

HEIST_BODY void scope_base::wait_for_forked() {
  if (forked == 0 && joined.nothing_since()) return;
  if (way != fork_way::child_first) run_own();
  waiting const now{*this};
  if (!joined.add(std::exchange(forked, 0))) return;
  on->wait_for(joined.all);
  joined.reset();
}

HEIST_COLD_BODY void scope_base::keep_exception() noexcept {
  // acq_rel: the first one owns exception_
  if (!failed_.exchange(true, std::memory_order_acq_rel)) exception_ = exception_of_task();
}

HEIST_BODY void scope_base::rethrow() {
  if (failed()) [[unlikely]] {
    failed_.store(false, std::memory_order_relaxed);  // relaxed: the children have finished
    std::rethrow_exception(std::exchange(exception_, nullptr));
  }
}

HEIST_BODY void scope_base::run_own() {
  while (!on->short_of_stack()) {
    runnable* const r = on->worker->deque.pop();
    if (r == nullptr) return;
    if (r->what != &scope_what || static_cast<scope_child*>(r)->in != this) {
      on->scheduler.push(*on->worker, *r);
      return;
    }
    r->run(*r, *on);
    if (HEIST_UNLIKELY(on->worker->notification.is_set())) on->handle_notification();
  }
}

HEIST_BODY int run_started_child(void* argument, void* fiber_of_child) noexcept {
  auto& child = *static_cast<scope_child*>(static_cast<caller_frame*>(argument));
  fiber& self = *static_cast<fiber*>(fiber_of_child);
  continuation_slot* const at = begin_child(self);
  scope_base& in = *child.in;
  in.call_child(self, [&child](fiber& here, fork_slot* there) { child.call(here, there); });
  child.end();  // it may wait; once the caller has been given back nothing may
  bool const plain = end_child(self, child, at);
  child.free(self);
  if (HEIST_LIKELY(plain)) return child_returned;
  in.joined.ended();
  core::finish_child(self);
  return child_returned;
}

HEIST_BODY void scope_base::start(scope_child& child) {
  child.parent = on;
  child.continuation_stolen = false;
  try {
    if (detail::call_child(*on, child, &run_started_child) == call_continuation_stolen) ++forked;
  } catch (...) {
    child.discard(*on);
    throw;
  }
}

HEIST_BODY void scope_base::start_or_call(scope_child& child) noexcept {
  if (on->no_migrate == 0 && may_start_child(*on->worker)) return start(child);
  call_child(*on, [&child](fiber& here, fork_slot* there) { child.call(here, there); });
  child.discard(*on);
}

HEIST_BODY extension_scope& scope_base::of_extension() {
  if (extension_scope_ == nullptr) extension_scope_ = extension_of_forks(*on).make_scope(*this, remote);
  return *extension_scope_;
}

/// Makes sure that there is one in the list; false if there is no memory.
HEIST_COLD_BODY bool has_fiber(worker& w, fiber*& list, fiber& (core::*acquire)(worker&)) noexcept {
  if (list != nullptr) return true;
  try {
    fiber& f = (w.scheduler.*acquire)(w);
    f.next_cached = list;
    list = &f;
    return true;
  } catch (...) {
    return false;
  }
}

HEIST_COLD_BODY bool may_suspend(worker& w) noexcept {
  return has_fiber(w, w.cached, &core::acquire_fiber);
}

HEIST_COLD_BODY bool may_start_child(worker& w) noexcept {
  return has_fiber(w, w.unused, &core::acquire_unused);
}

}  // namespace heist::detail
