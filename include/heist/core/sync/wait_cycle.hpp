// Waits that close a circle: a waiter that can step back, and the search for the circle (README.md, "Circles of waits").
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>

#include "heist/core/base/env.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/core/sync/completion.hpp"

namespace heist::detail {

// Edges
//   E1  woken: state_.exchange(release) -> leave, step_back: state_.CAS(acquire)   the effects before complete()
//   E2  leave: state_.CAS(release)      -> woken: state_.exchange(acquire)         the frame, as it was left
//   E3  step_back: state_.CAS(release)  -> woken: state_.exchange(acquire)         the waiter is its waker's now

/// A waiter that is in line before its frame has been left, so that it can still step back. It stays in line then, and
/// is its waker's, which frees it.
///
/// Threads  begin(), then one of leave() and step_back(), by the frame that waits; woken() once, by the completer.
/// Cost     leave: one compare-and-swap; woken: one exchange.
/// Promises woken() does not touch it after its exchange.
template <class Env = os_env>
class basic_careful_waiter : public completion_waiter {
 public:
  enum class place : std::uint8_t { entering, left, back, notified };

  explicit basic_careful_waiter(wake_function wake_up) noexcept : completion_waiter{wake_up} {}

  void begin() noexcept { state_.store(place::entering, std::memory_order_relaxed); }  // relaxed: enlist() publishes it
  /// The frame has been left, and the thread that completes may let it resume. False: that has been; the caller lets it
  /// resume.
  [[nodiscard]] bool leave() noexcept { return set(place::left); }
  /// The frame waits no more. False: its completion is complete.
  [[nodiscard]] bool step_back() noexcept { return set(place::back); }
  bool has_stepped_back() const noexcept {
    return state_.load(std::memory_order_relaxed) == place::back;  // relaxed: read under the lock of step_back()
  }
  /// The place that the waker finds. `entering`: the frame hears of it in leave(). `left`: it is to be resumed. `back`:
  /// this waiter is to be freed.
  place notified() noexcept { return state_.exchange(place::notified, std::memory_order_acq_rel); }  // E1, E2, E3

 private:
  bool set(place what) noexcept {
    place expected = place::entering;
    return state_.compare_exchange_strong(expected, what, std::memory_order_release,  // E2, E3
                                          std::memory_order_acquire);                 // E1
  }

  typename Env::template atomic<place> state_{place::entering};
};

/// Finds circles of waits: follows the waiters from a task that is about to wait, until it meets the task's target. All
/// searches share one lock: a waiter steps back under it, so a waiter that a search has seen stays where it is.
///
/// Nodes are completions: that of a task is complete when the task has ended. `depends(waiter)` is the completion that
/// cannot come before the waiter has been woken, or null if that is not known.
///
/// Cost  a lock, and a step for each waiter that is met; `Most` completions at most: a larger circle is not found.
template <class Env = os_env, std::size_t Most = 1000>
class basic_wait_cycles {
 public:
  using completion_type = basic_completion<Env>;

  /// To be asked by the task that `own` belongs to, when its waiter stands in the line of `target`, and a fence (seq_cst)
  /// has followed. Does `target` wait for `own`? Then calls `step_back(n)`, n being how many wait in the circle, under
  /// the lock, and returns what that does.
  template <class Depends, class StepBack>
  bool closed_by(completion_type const& own, completion_type const& target, Depends&& depends,
                 StepBack&& step_back) noexcept {
    spin_guard guard{lock_};
    std::size_t const length = search(own, target, depends);
    return length != 0 && step_back(length);
  }

 private:
  static constexpr std::size_t slots = 4 * Most;  // never full
  static constexpr std::size_t most_steps = 8 * Most;

  struct visit {
    completion_type const* what;
    std::size_t slot;    ///< in the table
    std::size_t length;  ///< the length of the way to it
  };

  template <class Depends>
  std::size_t search(completion_type const& own, completion_type const& target, Depends& depends) noexcept {
    count_ = 0;
    add(own, 1);
    std::size_t length = 0;
    std::size_t steps = 0;
    for (std::size_t i = 0; i != count_ && length == 0; ++i) {
      for (completion_waiter const* w = visits_[i].what->waiters(); w != nullptr && length == 0; w = w->next) {
        completion_type const* const next = depends(*w);
        if (next == &target) {
          length = visits_[i].length + 1;
        } else if (++steps == most_steps || (next != nullptr && !add(*next, visits_[i].length + 1))) {
          i = count_ - 1;  // too large: not found
          break;
        }
      }
    }
    for (std::size_t i = 0; i != count_; ++i) table_[visits_[i].slot] = nullptr;
    return length;
  }

  /// False if there is no room.
  bool add(completion_type const& what, std::size_t length) noexcept {
    std::size_t at = (reinterpret_cast<std::uintptr_t>(&what) / 16) * 0x9E3779B97F4A7C15u % slots;
    for (; table_[at] != nullptr; at = (at + 1) % slots) {
      if (table_[at] == &what) return true;
    }
    if (count_ == Most) return false;
    table_[at] = &what;
    visits_[count_++] = {&what, at, length};
    return true;
  }

  spin_lock<Env> lock_;
  std::size_t count_ = 0;
  visit visits_[Most]{};
  completion_type const* table_[slots]{};
};

using careful_waiter = basic_careful_waiter<>;
using wait_cycles = basic_wait_cycles<>;

}  // namespace heist::detail
