// The line of an object's waiters: first come, first served. A waiter leaves it when it is stopped or late.
#pragma once

#include <atomic>
#include <cstdint>

#include "heist/core/base/assert.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/spin_lock.hpp"

namespace heist::detail {

/// How a wait ends. `none`: it has not.
enum class wait_end : unsigned char { none, completed, stopped, timed_out };

/// A waiter; lies where it waits. Its fields are used under the line's lock, until it is woken.
template <class Env = os_env>
struct queued_waiter {
  using wake_function = void (*)(queued_waiter&) noexcept;

  explicit queued_waiter(wake_function how) noexcept : wake{how} {}
  queued_waiter(queued_waiter const&) = delete;
  queued_waiter& operator=(queued_waiter const&) = delete;

  /// Called once for each time that it is taken out of the line, without the lock. The waiter may be gone when it returns.
  wake_function const wake;
  queued_waiter* next = nullptr;  ///< in the line; or of those that are to be woken
  queued_waiter* previous = nullptr;
  std::uint32_t needs = 1;                                   ///< permits
  typename Env::template atomic<void const*> line{nullptr};  ///< in which it stands
  /// Why it was taken out; or, while it is not in the line, why it must not enter it.
  typename Env::template plain<wait_end> end{wait_end::none};
};

/// The waiters that have been taken out and are to be woken when the lock is free, in order.
template <class Env = os_env>
class wake_list {
 public:
  using waiter = queued_waiter<Env>;
  wake_list() = default;
  wake_list(wake_list const&) = delete;
  wake_list& operator=(wake_list const&) = delete;
  ~wake_list() {
    while (first_ != nullptr) {
      waiter& w = *first_;
      first_ = w.next;  // before it is woken
      w.wake(w);
    }
  }
  void add(waiter& w) noexcept {
    w.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &w;
    last_ = &w;
  }

 private:
  waiter* first_ = nullptr;
  waiter* last_ = nullptr;
};

/// The line. It has no lock of its own: all its functions are called under the lock of the object.
template <class Env = os_env>
class waiter_queue {
 public:
  using waiter = queued_waiter<Env>;

  bool empty() const noexcept { return first_ == nullptr; }
  /// relaxed: written under the lock, if it is this line's
  bool has(waiter const& w) const noexcept { return w.line.load(std::memory_order_relaxed) == this; }
  waiter* first() const noexcept { return first_; }

  /// Puts `w` at the end. False: it has been stopped, or is late, already.
  [[nodiscard]] bool enter(waiter& w) noexcept {
    if (!may_enter(w)) return false;
    w.next = nullptr;
    w.previous = last_;
    (first_ == nullptr ? first_ : last_->next) = &w;
    last_ = &w;
    return true;
  }
  /// Puts back in front a waiter that was first before.
  [[nodiscard]] bool enter_in_front(waiter& w) noexcept {
    if (!may_enter(w)) return false;
    w.previous = nullptr;
    w.next = first_;
    (first_ == nullptr ? last_ : first_->previous) = &w;
    first_ = &w;
    return true;
  }
  /// The caller wakes it when it has released the lock.
  void take_out(waiter& w, wait_end why) noexcept {
    HEIST_ASSERT(has(w), "a waiter is taken out of a line in which it does not stand");
    (w.previous == nullptr ? first_ : w.previous->next) = w.next;
    (w.next == nullptr ? last_ : w.next->previous) = w.previous;
    w.line.store(nullptr, std::memory_order_relaxed);  // relaxed: as in has()
    w.end = why;
  }
  /// There is one.
  waiter& complete_first(wake_list<Env>& notified) noexcept {
    waiter& w = *first_;
    take_out(w, wait_end::completed);
    notified.add(w);
    return w;
  }
  void handle_all(wake_list<Env>& notified) noexcept {
    while (first_ != nullptr) complete_first(notified);
  }
  /// A waiter that is stopped or late leaves. False: its wait is completed, or it is not here now and will not be let in.
  bool leave(waiter& w, wait_end why, wake_list<Env>& notified) noexcept {
    if (has(w)) {
      take_out(w, why);
      notified.add(w);
      return true;
    }
    if (w.end == wait_end::none) w.end = why;
    return false;
  }

 private:
  bool may_enter(waiter& w) noexcept {
    HEIST_ASSERT(w.line.load(std::memory_order_relaxed) == nullptr,  // relaxed: the thread that puts it in line
                 "a waiter enters a line while it stands in one");
    if (w.end != wait_end::none) return false;
    w.line.store(this, std::memory_order_relaxed);  // relaxed: as in has()
    return true;
  }

  waiter* first_ = nullptr;
  waiter* last_ = nullptr;
};

}  // namespace heist::detail
