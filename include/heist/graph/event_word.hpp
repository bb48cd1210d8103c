// The word of an event. It decides which thread may give the value, and which resumes the run that waits for it.
#pragma once

#include <atomic>
#include <cstdint>

#include "heist/core/base/env.hpp"

namespace heist::detail {

// Edges
//   V1  fill, drop: fetch_or(release)  -> reach, full: (acquire)          the value, before the run goes on with it
//   V2  reach: fetch_or(release)       -> fill, drop: (acquire)           where the run waits
//   V3  arm, close: CAS(release)       -> claim, drop: CAS(acquire)       the slot is empty
//   V4  fill: fetch_or(release)        -> close, arm: CAS(acquire)        the filling thread has done so

/// The answer to a call that wants to give the value.
enum class event_claim { mine, twice, released, no_run };

/// In each run one thread gives the value (fill) or it is given up (drop), and the run comes by once (reach). The later
/// of the two is told so, and continues with the run.
///
/// Threads  claim, fill, drop by any thread; reach by the event's task; arm and close by the thread that begins or ends
///          runs.
template <class Env = os_env>
class basic_event_word {
 public:
  /// A run begins.
  void arm() noexcept {
    begin([](std::uint32_t) { return open; });
  }
  /// The run has ended. If the value was given up, a thread that comes late with it is not to blame.
  void close() noexcept {
    begin([](std::uint32_t now) { return now & released; });
  }

  /// `mine`: the caller makes the value and calls fill().
  event_claim claim() noexcept {
    std::uint32_t now = bits_.load(std::memory_order_acquire);  // V3
    for (;;) {
      if ((now & released) != 0) return event_claim::released;
      if ((now & open) == 0) return event_claim::no_run;
      if ((now & claimed) != 0) return event_claim::twice;
      // acq_rel: V3
      if (bits_.compare_exchange_weak(now, now | claimed, std::memory_order_acq_rel, std::memory_order_acquire))
        return event_claim::mine;
    }
  }
  /// True if the run waits: the caller resumes it. If not, the event may be gone.
  [[nodiscard]] bool fill() noexcept {
    return (bits_.fetch_or(is_full, std::memory_order_acq_rel) & reached) != 0;  // V1, V4; acquire: V2
  }
  /// The run goes on without a value, if no thread has begun to give one. True as for fill().
  [[nodiscard]] bool drop() noexcept {
    std::uint32_t now = bits_.load(std::memory_order_acquire);  // V3
    do {
      if ((now & open) == 0 || (now & claimed) != 0) return false;
      // release: V1; acquire: V2
    } while (!bits_.compare_exchange_weak(now, now | claimed | is_full | released, std::memory_order_acq_rel,
                                          std::memory_order_acquire));
    return (now & reached) != 0;
  }

  bool full() const noexcept { return (bits_.load(std::memory_order_acquire) & is_full) != 0; }  // V1
  /// A thread makes the value at this moment.
  bool is_claimed() const noexcept {
    return (bits_.load(std::memory_order_relaxed) & (claimed | is_full)) == claimed;  // relaxed: a hint
  }
  /// After full() or reach() was true: the value was given up.
  bool was_released() const noexcept {
    return (bits_.load(std::memory_order_relaxed) & released) != 0;  // relaxed: seen already
  }
  /// True if the value, or the news that there is none, is there: the caller continues. If not, the event may be gone.
  [[nodiscard]] bool reach() noexcept {
    return (bits_.fetch_or(reached, std::memory_order_acq_rel) & is_full) != 0;  // release: V2; acquire: V1
  }

 private:
  static constexpr std::uint32_t open = 1, claimed = 2, is_full = 4, reached = 8, released = 16;

  /// Conditions may have led the run around an event while a thread makes its value: waits for that thread, also if it has
  /// begun this very moment.
  template <class Next>
  void begin(Next next) noexcept {
    std::uint32_t now = bits_.load(std::memory_order_acquire);  // V4
    for (;;) {
      if ((now & (claimed | is_full)) == claimed) {
        Env::yield();
        now = bits_.load(std::memory_order_acquire);  // V4
        // release: V3; acquire: V4
      } else if (bits_.compare_exchange_weak(now, next(now), std::memory_order_acq_rel, std::memory_order_acquire)) {
        return;
      }
    }
  }

  typename Env::template atomic<std::uint32_t> bits_{0};
};

}  // namespace heist::detail
