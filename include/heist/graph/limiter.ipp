// Bodies of limiter.hpp.
#pragma once

#include "heist/graph/limiter.hpp"

#include <fmt/format.h>

#include "heist/base/errors.hpp"

namespace heist::detail {

HEIST_COLD_BODY void limited_task::amount::note(std::int64_t change) const noexcept {
  if (balance != nullptr) balance->taken.fetch_add(change, std::memory_order_relaxed);  // relaxed: read after the run
}

}  // namespace heist::detail

namespace heist {

HEIST_COLD_BODY limiter::limiter(std::size_t most) : most_{static_cast<std::uint32_t>(most)}, free_{most_} {
  if (most == 0 || most > 0x7fffffff) {
    throw graph_error{
        fmt::format("a limiter of {}: no task could ever run, or the count is not a sensible one; fix it by "
                    "allowing at least 1.",
                    most)};
  }
}

HEIST_COLD_BODY std::size_t limiter::available() const noexcept {
  lock_.lock();
  std::size_t const now = free_;
  lock_.unlock();
  return now;
}

HEIST_COLD_BODY bool limiter::acquire_or_wait(std::uint32_t count, detail::limited_task& t) noexcept {
  spin_guard guard{lock_};
  if (first_ == nullptr && free_ >= count) {
    free_ -= count;
    return true;
  }
  t.next_in_line = nullptr;
  (first_ == nullptr ? first_ : last_->next_in_line) = &t;
  last_ = &t;
  return false;
}

HEIST_COLD_BODY void limiter::release(std::uint32_t count) {
  detail::limited_task* ready = nullptr;
  detail::limited_task** end = &ready;
  {
    spin_guard guard{lock_};
    free_ = most_ - free_ < count ? most_ : free_ + count;
    while (first_ != nullptr) {
      std::uint32_t const wanted = first_->acquires[first_->acquired].count;
      if (wanted > free_) break;
      free_ -= wanted;
      *end = first_;
      end = &first_->next_in_line;
      first_ = first_->next_in_line;
    }
    *end = nullptr;
  }
  while (ready != nullptr) {
    detail::limited_task& t = *ready;
    ready = t.next_in_line;  // before it runs: then the link is its own again
    ++t.acquired;
    t.home->make_runnable(t.resume);
  }
}

HEIST_COLD_BODY bool limiter_access::acquire_or_wait(limiter& l, std::uint32_t count,
                                                     detail::limited_task& t) noexcept {
  return l.acquire_or_wait(count, t);
}

}  // namespace heist
