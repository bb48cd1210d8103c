// Completion: something that happens once, and its waiters.
#pragma once

#include <atomic>
#include <cstdint>

#include "heist/core/base/env.hpp"

namespace heist::detail {

/// A waiter, in a list. It belongs to the thread, fiber or task that waits, so it may be gone as soon as wake() has let
/// that one resume.
struct completion_waiter {
  using wake_function = void (*)(completion_waiter&) noexcept;
  wake_function wake;
  completion_waiter* next = nullptr;
};

// Edges (README.md, "Completion")
//   E1  complete: head_.exchange(release) -> done: head_.load(acquire)        the effects before complete()
//   E2  enlist: head_.CAS(release)        -> complete: head_.exchange(acquire), waiters: head_.load(acquire)
//                                                                              the waiter's fields

/// Threads  every member may be called by any thread, complete() once.
/// Cost     done: one load. complete: one exchange. enlist: one compare-and-swap.
/// Promises complete() does not touch the completion after its exchange, nor a waiter after waking it: the owner of
///          the memory may free it at once.
template <class Env = os_env>
class basic_completion {
 public:
  bool is_ready() const noexcept {
    return head_.load(std::memory_order_acquire) == done_mark();  // E1
  }

  /// Adds a waiter, which will be woken once; false (and nothing added) if it is done already.
  [[nodiscard]] bool add_entry(completion_waiter& waiter) noexcept {
    completion_waiter* head = head_.load(std::memory_order_acquire);  // E1
    do {
      if (head == done_mark()) return false;
      waiter.next = head;
      // release: E2; acquire: E1
    } while (!head_.compare_exchange_weak(head, &waiter, std::memory_order_release, std::memory_order_acquire));
    return true;
  }

  void complete() noexcept {
    complete([](completion_waiter& w) noexcept { w.wake(w); });
  }
  /// The same; `wake(waiter)` wakes each waiter, the youngest first.
  template <class Wake>
  void complete(Wake&& wake) noexcept {
    completion_waiter* waiter = head_.exchange(done_mark(), std::memory_order_acq_rel);  // release: E1; acquire: E2
    while (waiter != nullptr) {
      completion_waiter* const next = waiter->next;
      wake(*waiter);
      waiter = next;
    }
  }

  /// The youngest waiter; older ones follow by `next`. Null: none, or it is complete. For callers that know that it
  /// cannot complete before they have looked.
  completion_waiter const* waiters() const noexcept {
    completion_waiter const* const head = head_.load(std::memory_order_acquire);  // E2
    return head == done_mark() ? nullptr : head;
  }

  /// Brings the line that complete() will touch first into the cache.
  void prefetch() const noexcept {
    __builtin_prefetch(static_cast<void const*>(head_.load(std::memory_order_relaxed)), 1);  // relaxed: advice
  }

  /// Makes it usable again; no thread may be waiting or looking.
  void reset() noexcept {
    head_.store(nullptr, std::memory_order_relaxed);  // relaxed: the hand-out publishes it
  }

 private:
  /// No waiter is there. A constant, since each shared library may have its own copy of a variable.
  static completion_waiter* done_mark() noexcept { return reinterpret_cast<completion_waiter*>(std::uintptr_t{1}); }

  typename Env::template atomic<completion_waiter*> head_{nullptr};
};

using completion = basic_completion<>;

/// A thread that waits, outside any worker: looks `Spins` times, about as long as the kernel needs to put a thread to
/// sleep and wake it again. Then it sleeps on its own word.
template <class Env = os_env, int Spins = 800>
class thread_waiter : public completion_waiter {
 public:
  thread_waiter() noexcept : completion_waiter{&wake_up} {}

  /// Returns after wake() has been called.
  void wait() noexcept {
    if (will_wake()) return;
    while (word_.load(std::memory_order_acquire) == asleep) word_.wait(asleep);  // acquire: the waker's earlier effects
  }
  /// The same, or false at `end` (Env::nanoseconds). Then wait() may be called, or this again.
  bool wait_until(std::int64_t end) noexcept {
    if (will_wake()) return true;
    while (word_.load(std::memory_order_acquire) == asleep) {  // acquire: as above
      std::int64_t const left = end - Env::nanoseconds();
      if (left <= 0) return false;
      word_.wait_for(asleep, left);
    }
    return true;
  }

 private:
  static constexpr std::uint32_t waiting = 0, asleep = 1, notified = 2;

  /// False: the waker knows that it sleeps now.
  bool will_wake() noexcept {
    for (int i = 0; i < Spins; ++i) {
      if (word_.load(std::memory_order_acquire) == notified) return true;  // acquire: as above
      // The waker may need this very core.
      if (i % 64 == 63) {
        Env::yield();
      } else {
        Env::relax();
      }
    }
    return word_.exchange(asleep, std::memory_order_acq_rel) == notified;  // acq_rel: acquire as above
  }

  static void wake_up(completion_waiter& self) noexcept {
    auto& word = static_cast<thread_waiter&>(self).word_;
    // release: the waker's earlier effects. After it, only the word's address is used (park_word::wake_one).
    if (word.exchange(notified, std::memory_order_acq_rel) == asleep) word.wake_one();
  }

  typename Env::park_word word_;
};

}  // namespace heist::detail
