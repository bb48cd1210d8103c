// Bodies of flow.hpp.
#pragma once

#include "heist/dynamic/flow.hpp"

#include <algorithm>  // find
#include <bit>        // bit_ceil

#include <fmt/format.h>

namespace heist {

inline constexpr std::size_t largest_window = std::size_t{1} << 20;

HEIST_COLD_BODY std::size_t window_for(flow_options const& wanted) {
  if (wanted.window == 0 || wanted.window > largest_window) {
    throw executor_error{
        fmt::format("a flow with a window of {} tasks: 1 to {} are allowed. Fix it by some hundreds for each worker, "
                    "or leave it out.",
                    wanted.window, largest_window)};
  }
  return std::bit_ceil(wanted.window);
}

HEIST_COLD_BODY flow::flow(detail::core* home, flow_options const& wanted)
    : home_{home}, mask_{window_for(wanted) - 1}, window_(mask_ + 1) {}

HEIST_COLD_BODY flow::~flow() {
  drain();
  if (first_) home_->unfetched().keep(std::move(first_));
}

HEIST_COLD_BODY void flow::refuse_foreign() {
  throw executor_error{
      "a task of a flow uses a datum of another flow, whose tasks it would not wait for; fix it by making the datum "
      "in "
      "this flow, or by one flow for both."};
}

HEIST_COLD_BODY void flow::refuse_twice() {
  throw executor_error{
      "a task of a flow names a datum twice, and not only to read it; fix it by naming it once, in update()."};
}

HEIST_BODY void flow::wait() {
  drain();
  failed_ = false;
  if (first_) std::rethrow_exception(std::exchange(first_, nullptr));
}

HEIST_BODY void flow::collect(std::vector<detail::flow_user> const& from) {
  for (detail::flow_user const& u : from) {
    if (into_ != nullptr) {
      if (std::find(awaited_numbers_.begin(), awaited_numbers_.end(), u.number) == awaited_numbers_.end())
        awaited_numbers_.push_back(u.number);
      continue;
    }
    if (u.number < oldest_) continue;
    if (u.task->finished.done()) {
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

HEIST_BODY void flow::add(std::vector<detail::flow_user>& to, detail::flow_user me) {
  if (to.size() == to.capacity() && to.size() >= 16)
    std::erase_if(to, [this](detail::flow_user const& u) { return u.number < oldest_; });
  to.push_back(me);
}

HEIST_BODY void flow::enter(detail::flow_version& v, access_mode mode, detail::flow_user me) {
  if (mode == access_mode::read) {
    v.commutes = false;
    add(v.readers, me);
    return;
  }
  if (mode == access_mode::commute && v.commutes) {
    add(v.writers, me);
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
  auto const pending = [this](std::vector<detail::flow_user> const& all) {
    for (detail::flow_user const& u : all) {
      if (u.number >= oldest_ && !u.task->finished.done()) return true;
    }
    return false;
  };
  return pending(v.readers) || pending(v.writers);
}

HEIST_BODY void flow::wait_for_room() {
  if (next_ - oldest_ <= mask_) return;
  // Half of them at once: who waits for each would sleep and wake for each.
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
  if (!task.finished.done()) detail::wait_for_async(task);
  ++oldest_;
  if (task.exception) [[unlikely]] {
    failed_ = true;
    std::exception_ptr e = task.pass_exception();
    if (!first_) first_ = std::move(e);
  }
  task.release();
}

HEIST_BODY void flow::drain() {
  if (into_ != nullptr) return;  // who runs the graph waits for it
  while (oldest_ != next_) drop_oldest();
  retired_.clear();
}

HEIST_BODY void flow::retire(std::unique_ptr<detail::flow_version> v) {
  if (retired_.size() >= 64 && retired_.size() == retired_.capacity()) forget_retired();
  retired_.push_back({std::move(v), next_ + 1});
}

HEIST_BODY void flow::forget_retired() noexcept {
  std::erase_if(retired_, [this](retired const& r) { return r.until <= oldest_; });
}

}  // namespace heist
