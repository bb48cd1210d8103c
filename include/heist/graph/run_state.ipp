// Bodies of run_state.hpp.
#pragma once

#include "heist/graph/run_state.hpp"

#include <utility>  // exchange, move

#include "heist/core/base/assert.hpp"
#include "heist/core/base/errors.hpp"
#include "heist/core/executor/circular_wait.hpp"
#include "heist/core/scheduler/wait.hpp"

namespace heist::detail {

HEIST_BODY graph_owner& graph_owner::operator=(graph_owner other) noexcept {
  std::swap(graph_, other.graph_);
  return *this;
}

HEIST_COLD_BODY bool is_stopped_error(std::exception_ptr const& e) noexcept {
  try {
    std::rethrow_exception(e);
  } catch (stopped_error const&) {
    return true;
  } catch (...) {
    return false;
  }
}

HEIST_BODY void run_state::fail(std::exception_ptr e, record const* of) noexcept {
  // A task of an interrupted run that was stopped itself says nothing new.
  if (interrupted() && is_stopped_error(e)) return;
  if (of != nullptr) note_failure(e, *of);
  if (interrupt_with(failed_bit)) exception = std::move(e);
}

HEIST_COLD_BODY void run_state::forget_failures(task_failure* first) noexcept {
  while (first != nullptr) delete std::exchange(first, first->next);
}

HEIST_BODY bool run_state::reusable() const noexcept {
  return finished.is_ready() && handle.load(std::memory_order_acquire) < held;  // acquire: pairs with let_go()
}

HEIST_BODY void run_state::prepare(core& on) noexcept {
  HEIST_ASSERT(exception == nullptr, "a run has not let go of its exception");
  // relaxed: no other thread has it
  HEIST_ASSERT(failures.load(std::memory_order_relaxed) == nullptr, "a run has not let go of its tasks' exceptions");
  interrupt.reset();
  waiting.store(nullptr, std::memory_order_relaxed);  // relaxed: no thread looks
  handle.store(0, std::memory_order_relaxed);         // relaxed: no handle refers to it
  fetched.store(false, std::memory_order_relaxed);    // relaxed: as above
  wait_marks.store(0, std::memory_order_relaxed);     // relaxed: as above
  finished.reset();
  was_stopped = chosen = false;
  start_priority = priority::normal;
  next_in_line = nullptr;
  origin = {};
  outer = nullptr;
  parent = nullptr;
  scheduler = &on;
  generation = on.generation();
  passes = 1;
  retain();
}

HEIST_BODY void run_state::keep_if_released() noexcept {
  if (exception) {
    unobserved.refer(scheduler->unobserved());
    // acq_rel: let_go() sees the exceptions, or this sees that no handle is left
    if (handle.fetch_or(failed, std::memory_order_acq_rel) >= held) return;
    unobserved.keep(std::exchange(exception, nullptr));
  }
  forget_failures(failures.exchange(nullptr, std::memory_order_acquire));  // acquire: pairs with note_failure()
}

HEIST_BODY void run_state::let_go() noexcept {
  std::uint32_t now = held;
  std::exception_ptr asked_for;  // ends with its handle: neither the run's last worker nor the next run destroys it
  task_failure* all = nullptr;   // so do these
  for (;;) {
    if (now == (held | failed)) {
      asked_for = std::exchange(exception, nullptr);
      all = failures.exchange(nullptr, std::memory_order_acquire);  // acquire: pairs with note_failure()
      if (!fetched.load(std::memory_order_relaxed))
        unobserved.keep(std::move(asked_for));     // relaxed: ordered by `handle`
      handle.store(0, std::memory_order_release);  // release: as below
      break;
    }
    // acq_rel: keep_if_released() and other handles; release: the next run with this state comes after the handles
    if (handle.compare_exchange_strong(now, now - held, std::memory_order_acq_rel, std::memory_order_acquire)) break;
  }
  release();
  forget_failures(all);
}

HEIST_BODY void run_state::release() noexcept {
  // acq_rel: the last owner sees the effects of the other owners
  if (owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

HEIST_COLD_BODY stop_target stop_target_of(run_state& run) noexcept {
  return {run.origin, [](void* what) noexcept { static_cast<run_state*>(what)->request_stop(); }, &run};
}

}  // namespace heist::detail

namespace heist {

HEIST_BODY graph_run& graph_run::operator=(graph_run&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

HEIST_BODY graph_run::~graph_run() {
  if (state_ == nullptr) return;
  state_->let_go();
}

HEIST_BODY void graph_run::wait() const {
  if (is_ready()) return;
  detail::awaited_end const run = awaited();
  detail::wait_for_run(run.end, run.generation, run.why, run.to);
}

HEIST_COLD_BODY detail::awaited_end graph_run::awaited() const {
  detail::run_state& s = checked();
  detail::reject_own_run(s);
  return {s.finished,
          s.wait_marks,
          s.generation,
          {"a run of the graph", s.title[0] != 0 ? s.title : nullptr},
          detail::stop_target_of(s)};
}

HEIST_BODY void graph_run::get() const {
  wait();
  state_->fetched.store(true, std::memory_order_relaxed);  // relaxed: read by the thread that drops the handle
  if (state_->exception) std::rethrow_exception(state_->exception);
  if (state_->was_stopped) {
    throw stopped_error{
        "the run of a graph was stopped, so tasks of it may not have run; fix it by catching heist::stopped_error, or "
        "by wait() and stopped()."};
  }
}

HEIST_BODY bool graph_run::stopped() const {
  detail::run_state const& s = checked();
  if (s.finished.is_ready()) return s.was_stopped;
  return (s.interrupt.why.load(std::memory_order_relaxed) & detail::run_state::stopped_bit) != 0;  // relaxed: a flag
}

HEIST_BODY graph_run::graph_run(detail::run_state& state) noexcept : state_{&state} {
  state.handle.store(detail::run_state::held, std::memory_order_relaxed);  // relaxed: the run has not started
}

HEIST_BODY detail::run_state& graph_run::checked() const {
  if (state_ == nullptr) {
    throw executor_error{
        "this graph_run refers to no run: it was default made or moved from; fix it by keeping the "
        "handle that executor::run returned."};
  }
  return *state_;
}

HEIST_COLD_BODY graph_run graph_run::share() const {
  graph_run second;
  second.state_ = &checked();
  second.state_->hold();
  return second;
}

}  // namespace heist
