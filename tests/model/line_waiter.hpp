// A waiter in a line for harnesses, and one that is told to leave it.
#pragma once

#include "engine/env.hpp"
#include "heist/core/sync/completion.hpp"
#include "heist/core/sync/waiter_queue.hpp"

namespace model {

/// Waits as tasks and threads do: by a completion for each time that it is woken.
template <class Base = heist::detail::queued_waiter<env>>
struct line_waiter : Base {
  template <class... Args>
  explicit line_waiter(Args... args) noexcept : Base{&wake_up, args...} {}
  heist::detail::basic_completion<env> notified;

  void wait() noexcept {
    heist::detail::thread_waiter<env, 1> me;
    if (notified.add_entry(me)) me.wait();
    notified.reset();
  }
  static void wake_up(heist::detail::queued_waiter<env>& w) noexcept {
    static_cast<line_waiter&>(w).notified.complete();
  }
};

/// Stands for a stop_callback: another thread tells one waiter to leave, at any time.
template <class Waiter>
class stop_of_waiter {
 public:
  void begin(Waiter& w) noexcept { waiter_.store(&w, std::memory_order_release); }
  /// As the destructor of a stop_callback: waits for a call in progress.
  void end() noexcept {
    if (waiter_.exchange(nullptr, std::memory_order_acq_rel) != nullptr) return;
    while (is_over_.load(std::memory_order_acquire) == 0) env::yield();
  }
  /// Calls `leave(waiter)` if there is one.
  template <class Leave>
  void stop(Leave leave) {
    Waiter* const w = waiter_.exchange(nullptr, std::memory_order_acq_rel);
    if (w == nullptr) return;
    leave(*w);
    is_over_.store(1, std::memory_order_release);
  }
  /// The same when there is one.
  template <class Leave>
  void wait_and_stop(Leave leave) {
    while (waiter_.load(std::memory_order_relaxed) == nullptr) env::yield();
    stop(leave);
  }

 private:
  env::atomic<Waiter*> waiter_{nullptr};
  env::atomic<int> is_over_{0};
};

}  // namespace model
