// Bodies of flow.hpp.
#pragma once

#include "heist/parallel/flow/flow.hpp"

#include <algorithm>  // find
#include <bit>        // bit_ceil

#include "heist/core/base/format.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/base/vector.hpp"

namespace heist {

namespace detail {

/// A thread outside waits for room in the window.
struct noted_flow_wait : outside_note {
  noted_flow_wait(core& on, std::size_t of) noexcept : scheduler{on}, window{of} {
    text = [](outside_note const& self) {
      return format_text("a thread outside waits until half of the {} tasks in a flow's window have ended",
                         {static_cast<noted_flow_wait const&>(self).window});
    };
    if (!inside) scheduler.outside.add(*this);
  }
  noted_flow_wait(noted_flow_wait const&) = delete;
  noted_flow_wait& operator=(noted_flow_wait const&) = delete;
  ~noted_flow_wait() {
    if (!inside) scheduler.outside.remove(*this);
  }

  core& scheduler;
  std::size_t const window;
  bool const inside = caller_task() != nullptr;  ///< then it is parked, and that is noted
};

}  // namespace detail

inline constexpr std::size_t largest_window = std::size_t{1} << 20;

HEIST_COLD_BODY std::size_t window_for(flow_options const& wanted) {
  if (wanted.window == 0 || wanted.window > largest_window) {
    throw executor_error{detail::format_text(
        "a flow with a window of {} tasks: 1 to {} are allowed. Fix it by some hundreds for each worker, "
        "or leave it out.",
        {wanted.window, largest_window})};
  }
  return std::bit_ceil(wanted.window);
}

HEIST_COLD_BODY flow::flow(detail::core* scheduler, flow_options const& wanted)
    : scheduler_{scheduler},
      mask_{window_for(wanted) - 1},
      window_(mask_ + 1),
      origin_{detail::stop_origin{scheduler == nullptr ? nullptr : detail::interrupt_of_caller()}} {
  if (scheduler != nullptr) unobserved_.refer(scheduler->unobserved());
}

HEIST_COLD_BODY detail::stop_target flow::stop_target() noexcept {
  return {origin_, [](void* what) noexcept { static_cast<detail::interrupt_state*>(what)->set(1); }, &stop_};
}

HEIST_COLD_BODY flow::~flow() {
  drain_to_destroy();
  if (first_ && !first_is_stop_) unobserved_.keep(std::move(first_));
}

HEIST_COLD_BODY void flow::reject_foreign() {
  throw executor_error{
      "a task of a flow uses a datum of another flow, whose tasks it would not wait for, or one that was moved from; "
      "fix it by making the datum in this flow, or by one flow for both."};
}

HEIST_COLD_BODY void flow::reject_moved() {
  throw executor_error{"a datum that was moved from has no value; fix it by asking the datum that it was moved to."};
}

HEIST_COLD_BODY void flow::reject_twice() {
  throw executor_error{
      "a task of a flow names a datum twice, and not only to read it; fix it by naming it once, in update()."};
}

/// By what the calling code is part of: the window belongs to the thread that gives tasks to the flow.
HEIST_BODY void flow::reject_own_task() const {
  for (detail::interrupt_state const* part = detail::interrupt_of_caller(); part != nullptr; part = part->outer) {
    if (part != &stop_) continue;
    throw executor_error{
        "a task of a flow waits for that flow, or gives it a task while its window is full, and would wait for its own "
        "end; fix it by wait() and value() outside of the flow's tasks, or by a larger flow_options::window."};
  }
}

HEIST_BODY void flow::wait() {
  if (into_ == nullptr) reject_own_task();
  drain();
  failed_ = false;
  if (stop_.any()) stop_.reset();
  if (first_) std::rethrow_exception(std::exchange(first_, nullptr));
}

HEIST_BODY void flow::collect(detail::vector<detail::flow_user> const& from) {
  for (detail::flow_user const& u : from) {
    if (into_ != nullptr) {
      if (std::find(awaited_numbers_.begin(), awaited_numbers_.end(), u.number) == awaited_numbers_.end())
        awaited_numbers_.push_back(u.number);
      continue;
    }
    if (u.number < oldest_) continue;
    if (u.task->finished.is_ready()) {
      if (u.task->exception) failed_ = true;  // wait() finds it
    } else if (std::find(awaited_.begin(), awaited_.end(), u.task) == awaited_.end()) {
      awaited_.push_back(u.task);
    }
  }
}

HEIST_BODY void flow::collect(detail::flow_version& v, access_mode mode) {
  if (mode == access_mode::commute && v.commutes) {
    collect(v.before);
  } else if (mode == access_mode::read || v.readers.empty()) {
    collect(v.writers);
  } else {
    collect(v.readers);
  }
}

HEIST_BODY void flow::make_room(detail::vector<detail::flow_user>& in, std::size_t times) {
  if (in.capacity() - in.size() >= times) return;
  if (into_ == nullptr) detail::erase_if(in, [this](detail::flow_user const& u) { return u.number < oldest_; });
  if (in.capacity() - in.size() < times) in.reserve(2 * in.size() + times);
}

HEIST_BODY void flow::make_room(detail::flow_version& v, access_mode mode, std::size_t times) {
  if (mode == access_mode::read) return make_room(v.readers, times);
  make_room(v.writers, 1);
  // They change places then.
  if (mode == access_mode::commute && !v.commutes) make_room(v.before, 1);
}

HEIST_BODY void flow::enter(detail::flow_version& v, access_mode mode, detail::flow_user me) noexcept {
  if (mode == access_mode::read) {
    v.commutes = false;
    v.readers.push_back(me);
    return;
  }
  if (mode == access_mode::commute && v.commutes) {
    v.writers.push_back(me);
    return;
  }
  v.commutes = mode == access_mode::commute;
  if (v.commutes) {
    v.before.swap(v.readers.empty() ? v.writers : v.readers);
  } else {
    v.before.clear();
  }
  v.readers.clear();
  v.writers.clear();
  v.writers.push_back(me);
}

HEIST_BODY bool flow::is_in_use(detail::flow_version const& v) const noexcept {
  if (into_ != nullptr) return false;  // each run begins with the objects that are there
  auto const pending = [this](detail::vector<detail::flow_user> const& all) {
    for (detail::flow_user const& u : all) {
      if (u.number >= oldest_ && !u.task->finished.is_ready()) return true;
    }
    return false;
  };
  return pending(v.readers) || pending(v.writers);
}

HEIST_BODY void flow::wait_for_room() {
  if (retired_.size() >= 64 && retired_.size() == retired_.capacity()) forget_retired();
  if (next_ - oldest_ <= mask_) return;
  reject_own_task();
  detail::propagated_stop const stop{stop_target()};
  detail::noted_flow_wait const noted{*scheduler_, mask_ + 1};
  // Waits for half of them at once: a thread that waited for each would sleep and wake for each.
  std::uint64_t const half = oldest_ + (mask_ + 1) / 2;
  if (half != oldest_) detail::wait_for_async(*window_[half & mask_]);
  do {
    drop_oldest();
  } while (oldest_ < half);
  if (!retired_.empty()) forget_retired();
}

HEIST_BODY void flow::drop_oldest() {
  detail::async_base& task = *window_[oldest_ & mask_];
  if (next_ - oldest_ > 8) __builtin_prefetch(window_[(oldest_ + 8) & mask_]);
  // Waits to the end: the caller may be a destructor.
  if (!task.finished.is_ready()) detail::wait_to_the_end(task.finished, task.generation, {"a task of a flow"});
  ++oldest_;
  if (task.exception) [[unlikely]] {
    failed_ = true;
    std::exception_ptr e = task.pass_exception();
    if (!first_) {
      first_ = std::move(e);
      first_is_stop_ = !task.unobserved.refers();
    }
  }
  task.release();
}

HEIST_BODY void flow::drain() {
  if (into_ != nullptr) return;  // the thread that runs the graph waits for it
  detail::propagated_stop const stop{oldest_ != next_ ? stop_target() : detail::stop_target{}};
  while (oldest_ != next_) drop_oldest();
  retired_.clear();
}

HEIST_COLD_BODY void flow::drain_to_destroy() noexcept {
  try {
    drain();
  } catch (executor_error const&) {
    oldest_ = next_;  // a child of fork(): no worker runs them here
  }
}

HEIST_BODY void flow::renew(detail::flow_datum& d, detail::unique_ptr<detail::flow_version> unused) {
  retired_.push_back({nullptr, next_ + 1, &d});
  retired_.back().version = std::exchange(d.now, std::move(unused));
}

HEIST_BODY void flow::undo_renewals(std::size_t before) noexcept {
  for (; retired_.size() > before; retired_.pop_back()) retired_.back().of->now = std::move(retired_.back().version);
}

HEIST_BODY void flow::forget_retired() noexcept {
  detail::erase_if(retired_, [this](retired const& r) { return r.until <= oldest_; });
}

}  // namespace heist
