// A lock with an owner. Waiters are overtaken at first; then the lock is handed over.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>  // exchange

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/core/sync/waiter_queue.hpp"

namespace heist::detail {

// Edges (README.md, "Owned lock")
//   E1  release: word_.CAS, store(release) -> acquire: word_.CAS(acquire)   the effects under the lock

/// Waits for an owned_lock.
template <class Env = os_env>
struct lock_waiter : queued_waiter<Env> {
  lock_waiter(typename queued_waiter<Env>::wake_function how, std::uintptr_t id, bool once) noexcept
      : queued_waiter<Env>{how}, owner{id}, competes{!once}, strict{once} {}
  std::uintptr_t const owner;  ///< the owner that it will be
  bool const competes;         ///< calls compete() when it has been woken
  /// The lock is handed to it when it is first. Otherwise it is woken and competes once, and insists afterwards.
  typename Env::template plain<bool> strict;
};

/// One word holds the owner, and whether waiters exist. So a lock without contention costs two exchanges.
///
/// Order   an owner that releases it wakes the first waiter, and goes on. The lock is free meanwhile, and other callers
///         may take it, at most `Bypass` times. Then it is handed to the woken waiter. If that one competes and fails,
///         it is first again, and the next release hands the lock to it. So each waiter is woken twice at most.
/// Threads any.
template <class Env = os_env, unsigned Bypass = 16>
class owned_lock {
 public:
  using waiter = lock_waiter<Env>;
  constexpr owned_lock() = default;
  owned_lock(owned_lock const&) = delete;
  owned_lock& operator=(owned_lock const&) = delete;

  // Marks in the word.
  static constexpr std::uintptr_t has_waiters = 1;
  /// The owner has been handed the lock, and does not run yet.
  static constexpr std::uintptr_t is_handed = 2;
  static constexpr std::uintptr_t marks = 3;

  /// `id` of the owner: not 0, a multiple of 4.
  HEIST_ALWAYS_INLINE bool try_acquire(std::uintptr_t id) noexcept {
    std::uintptr_t seen = 0;
    // acquire: E1; relaxed: nothing was done
    if (word_.compare_exchange_strong(seen, id, std::memory_order_acquire, std::memory_order_relaxed)) return true;
    return seen == has_waiters && try_overtake(id);
  }
  /// False: the owner is not `id`, or waiters exist (release_to_next).
  HEIST_ALWAYS_INLINE bool try_release(std::uintptr_t id) noexcept {
    // release: E1; relaxed: nothing was done
    return word_.compare_exchange_strong(id, 0, std::memory_order_release, std::memory_order_relaxed);
  }
  /// Before it is destroyed: waits until the last owner has left release_to_next(). True: there are waiters.
  bool has_waiter() const noexcept {
    spin_guard guard{lock_};
    return !line_.empty();
  }
  typename Env::template atomic<std::uintptr_t> const& word() const noexcept { return word_; }
  /// The owner; 0: it is free. A snapshot.
  std::uintptr_t owner() const noexcept {
    return word_.load(std::memory_order_relaxed) & ~marks;  // relaxed: above
  }

  /// Can it soon be free? False until its owner has been resumed.
  bool frees_soon() const noexcept {
    return (word_.load(std::memory_order_relaxed) & is_handed) == 0;  // relaxed: a hint
  }

  /// completed: `w` has the lock. none: it stands in line. Otherwise it was told before not to wait.
  wait_end acquire_or_enter(waiter& w) noexcept {
    spin_guard guard{lock_};
    if (w.end != wait_end::none) return w.end;
    // relaxed: claim() acquires. From now on no owner gives the lock up without lock_.
    word_.fetch_or(has_waiters, std::memory_order_relaxed);
    if (claim(w)) return wait_end::completed;
    return line_.enter(w) ? wait_end::none : static_cast<wait_end>(w.end);
  }
  /// By the owner. Gives the lock up, and wakes the first that waits if none has been woken.
  void release_to_next(wake_list<Env>& notified) noexcept {
    spin_guard guard{lock_};
    if (called_ != nullptr) {
      if (++passed_ < Bypass) return set_free();
      return hand_over(*std::exchange(called_, nullptr));
    }
    if (line_.empty()) return set_free();
    waiter& first = static_cast<waiter&>(*line_.first());
    if (first.strict) {
      line_.complete_first(notified);
      hand_over(first);
    } else {
      call(first, notified);
      set_free();
    }
  }
  /// By a waiter that was woken. It has the lock (completed), or stands in line again, in front (none), or has been told to
  /// wait no more. If it does not get the lock, the owner's release finds the line.
  wait_end contend(waiter& w) noexcept {
    spin_guard guard{lock_};
    if (called_ != &w) {  // the lock was handed to it, or it was taken out of the line
      if (w.end == wait_end::completed) word_.fetch_and(~is_handed, std::memory_order_relaxed);  // relaxed: a hint
      return w.end;
    }
    called_ = nullptr;
    if (claim(w)) return wait_end::completed;
    w.strict = true;
    return line_.enter_in_front(w) ? wait_end::none : static_cast<wait_end>(w.end);
  }
  /// A waiter that is stopped or late leaves.
  void leave(waiter& w, wait_end why, wake_list<Env>& notified) noexcept {
    spin_guard guard{lock_};
    line_.leave(w, why, notified);
  }

 private:
  static bool is_free(std::uintptr_t word) noexcept { return (word & ~has_waiters) == 0; }
  HEIST_NOINLINE bool try_overtake(std::uintptr_t id) noexcept {
    std::uintptr_t seen = has_waiters;
    // acquire: E1; relaxed: nothing was done
    return word_.compare_exchange_strong(seen, id | has_waiters, std::memory_order_acquire, std::memory_order_relaxed);
  }

  // All of these under lock_. A lock that is not free is given up under lock_, if `has_waiters` is set; one that is free may
  // be taken at any time.
  std::uintptr_t mark() const noexcept { return line_.empty() && called_ == nullptr ? 0 : has_waiters; }
  void set_free() noexcept { word_.store(mark(), std::memory_order_release); }  // E1
  void hand_over(waiter& w) noexcept {
    w.end = wait_end::completed;
    word_.store(w.owner | mark() | (w.competes ? is_handed : 0), std::memory_order_release);  // E1
  }
  /// Takes the lock for `w`, which is not in line, if it is free.
  bool claim(waiter& w) noexcept {
    std::uintptr_t seen = word_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    if (!is_free(seen)) return false;
    // acquire: E1; relaxed: nothing was done
    if (!word_.compare_exchange_strong(seen, w.owner | mark(), std::memory_order_acquire, std::memory_order_relaxed))
      return false;
    w.end = wait_end::completed;
    return true;
  }
  void call(waiter& w, wake_list<Env>& notified) noexcept {
    line_.take_out(w, wait_end::none);
    called_ = &w;
    passed_ = 0;
    notified.add(w);
  }

  typename Env::template atomic<std::uintptr_t> word_{0};
  mutable spin_lock<Env> lock_;
  unsigned passed_ = 0;       ///< times that other callers took it since called_ was woken
  waiter* called_ = nullptr;  ///< has been woken to compete, and has not done so
  waiter_queue<Env> line_;
};

}  // namespace heist::detail
