// Bodies of limiter.hpp.
#pragma once

#include "heist/graph/limiter.hpp"

#include <fmt/core.h>

#include "heist/base/assert.hpp"
#include "heist/base/errors.hpp"

namespace heist::detail {

HEIST_COLD_BODY std::uint32_t limiter_balance::left_of(std::uint32_t count) noexcept {
  std::int64_t now = skipped.load(std::memory_order_relaxed);  // relaxed: amounts only
  std::int64_t less = 0;
  do {
    less = now < count ? now : count;
    if (less <= 0) return count;
  } while (!skipped.compare_exchange_weak(now, now - less, std::memory_order_relaxed));  // relaxed: as above
  return count - static_cast<std::uint32_t>(less);
}

HEIST_COLD_BODY void resume_all(limited_task* first) {
  while (first != nullptr) {
    limited_task& t = *first;
    first = t.next_in_line;  // before it runs: then the link is its own again
    t.home->make_runnable(t.resume);
  }
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

HEIST_COLD_BODY limiter::answer limiter::acquire_or_wait(std::uint32_t count, detail::limited_task& t) noexcept {
  spin_guard guard{lock_};
  // Under the lock: the interruption comes before the look into this line, so one of the two sees the other.
  if (t.interrupt->any()) return answer::interrupted;
  if (first_ == nullptr && free_ >= count) {
    free_ -= count;
    return answer::acquired;
  }
  HEIST_ASSERT(t.waits_for.load(std::memory_order_relaxed) == nullptr,  // relaxed: only this call puts it in line
               "a task is put in line while it is in a line");
  t.waits_for.store(this, std::memory_order_relaxed);  // relaxed: compared under the lock of the limiter that it names
  t.next_in_line = nullptr;
  t.previous_in_line = last_;
  (first_ == nullptr ? first_ : last_->next_in_line) = &t;
  last_ = &t;
  return answer::waits;
}

HEIST_COLD_BODY bool limiter_access::try_acquire(limiter& l, std::uint32_t count,
                                                 detail::limited_task const& t) noexcept {
  spin_guard guard{l.lock_};
  if (t.interrupt->any() || l.first_ != nullptr || l.free_ < count) return false;
  l.free_ -= count;
  return true;
}

HEIST_COLD_BODY void limiter::unlink(detail::limited_task& t) noexcept {
  (t.previous_in_line == nullptr ? first_ : t.previous_in_line->next_in_line) = t.next_in_line;
  (t.next_in_line == nullptr ? last_ : t.next_in_line->previous_in_line) = t.previous_in_line;
  t.waits_for.store(nullptr, std::memory_order_relaxed);  // relaxed: as in acquire_or_wait()
}

HEIST_COLD_BODY void limiter::serve(detail::limited_task*& found) noexcept {
  detail::limited_task** end = &found;
  detail::limited_task* const others = found;
  while (first_ != nullptr) {
    detail::limited_task& t = *first_;
    std::uint32_t const wanted = t.acquires[t.acquired].count;
    if (wanted > free_) break;
    free_ -= wanted;
    unlink(t);
    ++t.acquired;
    *end = &t;
    end = &t.next_in_line;
  }
  *end = others;
}

HEIST_COLD_BODY void limiter::release(std::uint32_t count) {
  detail::limited_task* ready = nullptr;
  {
    spin_guard guard{lock_};
    free_ = most_ - free_ < count ? most_ : free_ + count;
    serve(ready);
  }
  resume_all(ready);
}

HEIST_COLD_BODY void limiter::leave_line(detail::limited_task& t, detail::limited_task*& found) noexcept {
  spin_guard guard{lock_};
  if (t.waits_for.load(std::memory_order_relaxed) != this) return;  // relaxed: as in acquire_or_wait()
  bool const was_first = first_ == &t;
  unlink(t);
  t.next_in_line = found;
  found = &t;
  if (was_first) serve(found);
}

}  // namespace heist
