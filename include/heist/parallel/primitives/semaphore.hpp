// Permits: a counting semaphore for tasks, threads, coroutines, and the tasks of graphs.
#pragma once

#include <chrono>
#include <cstddef>  // ptrdiff_t
#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/fwd.hpp"
#include "heist/graph/limiter.hpp"
#include "heist/parallel/primitives/awaiting.hpp"
#include "heist/parallel/primitives/waiting.hpp"

namespace heist {

namespace detail {

// A base class that the reference shows.
/// The part of a semaphore that does not depend on its largest value.
class semaphore_base : public limiter {
 public:
  /// Waits for a permit. Throws stopped_error if the waiting task is stopped: then it has none.
  void acquire() {
    if (!permits_.try_take(1)) static_cast<void>(wait(never));
  }
  [[nodiscard]] bool try_acquire() noexcept { return permits_.try_take(1); }
  template <class Rep, class Period>
  [[nodiscard]] bool try_acquire_for(std::chrono::duration<Rep, Period> const& time) {
    return permits_.try_take(1) || wait(until(time));
  }
  template <class Clock, class Duration>
  [[nodiscard]] bool try_acquire_until(std::chrono::time_point<Clock, Duration> const& when) {
    return permits_.try_take(1) || wait_until_late(when, [this](std::int64_t end) { return wait(end); });
  }
  /// Gives `n` permits, and lets those go on that wait for them. More than max() are lost.
  void release(std::ptrdiff_t n = 1);
#if HEIST_COROUTINES
  /// co_await: as acquire().
  [[nodiscard]] auto acquire_async() noexcept {
    return awaiter{*this};
  }
#endif

 protected:
  semaphore_base(std::ptrdiff_t free, std::ptrdiff_t most);
  ~semaphore_base();

 private:
  bool wait(std::int64_t end);
  line in_line() noexcept {
    return {this,
            &leave,
            {.what = "a semaphore",
             .permits = static_cast<limiter*>(this),
             .spare = static_cast<std::uint32_t>(max()) - 1}};
  }
  static void leave(void* me, queued_waiter<>& w, wait_end why) noexcept;

#if HEIST_COROUTINES
  class awaiter : line_awaiter<> {
   public:
    explicit awaiter(semaphore_base& s) noexcept : of_{s} {}
    bool await_ready() const noexcept { return of_.permits_.try_take(1); }
    template <class Promise>
    bool await_suspend(std::coroutine_handle<Promise> h) {
      return suspend_in_line(h, of_.in_line(), [this] { return of_.permits_.take_or_enter(waiter_); });
    }
    void await_resume() { resume("a semaphore"); }

   private:
    semaphore_base& of_;
  };
#endif
};

}  // namespace detail

/// As std::counting_semaphore, for tasks, threads and coroutines at once. It is a heist::limiter: task::limit(s) takes
/// the same permits.
///
/// Order  first come, first served: no waiter is overtaken.
/// Stops  a stop of the waiting task ends a wait with stopped_error; no permit is lost.
/// Cost   each call a spin_lock and a few instructions.
template <std::ptrdiff_t LeastMaxValue>
class counting_semaphore : public detail::semaphore_base {
  static_assert(LeastMaxValue > 0 && LeastMaxValue <= 0x7fffffff,
                "heist: a counting_semaphore counts from 0 to at most 2^31 - 1; fix it by such a LeastMaxValue.");

 public:
  static constexpr std::ptrdiff_t max() noexcept { return LeastMaxValue; }
  /// So many permits are free. Throws graph_error for a number below 0 or above max().
  explicit counting_semaphore(std::ptrdiff_t desired) : semaphore_base{desired, LeastMaxValue} {}
};
/// One permit, or none.
using binary_semaphore = counting_semaphore<1>;

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/parallel/primitives/semaphore.ipp"
#endif
