// Permits: a counting semaphore whose waiters may want several, and leave when they are stopped.
#pragma once

#include <atomic>
#include <cstdint>

#include "heist/core/base/env.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/core/sync/waiter_queue.hpp"

namespace heist::detail {

/// First come, first served: a waiter that wants many permits is not overtaken. So no caller takes a permit while
/// another waits.
///
/// Threads  any.
/// Cost     a spin_lock and a few instructions each.
template <class Env = os_env>
class permits {
 public:
  using waiter = queued_waiter<Env>;

  /// So many are free; there are never more than `most`.
  permits(std::uint32_t free, std::uint32_t most) noexcept : most_{most}, free_{free} {}

  std::uint32_t max() const noexcept { return most_; }
  std::uint32_t available() const noexcept {
    spin_guard guard{lock_};
    return free_;
  }
  bool try_take(std::uint32_t count) noexcept {
    spin_guard guard{lock_};
    return take(count);
  }
  /// completed: it has them. none: it stands in line. Otherwise it was told before not to wait.
  wait_end take_or_enter(waiter& w) noexcept {
    return take_or_enter(w, [] { return false; });
  }
  /// The same for a waiter that waits again and again, and is told to leave by leave_if_there(). `stopped()` is asked under the
  /// lock. A thread that stops it looks into the line afterwards. So one of the two sees the other.
  template <class Stopped>
  wait_end take_or_enter_again(waiter& w, Stopped&& stopped) noexcept {
    return take_or_enter(w, [&] {
      w.end = wait_end::none;
      return stopped();
    });
  }
  /// Gives `count` back, at most up to max().
  void give(std::uint32_t count, wake_list<Env>& notified) noexcept {
    spin_guard guard{lock_};
    free_ = most_ - free_ < count ? most_ : free_ + count;
    grant(notified);
  }
  /// A waiter that is stopped or late leaves. The waiters behind it may be served then.
  void leave(waiter& w, wait_end why, wake_list<Env>& notified) noexcept {
    spin_guard guard{lock_};
    if (line_.leave(w, why, notified)) grant(notified);
  }
  /// Nothing happens if it is in another line, or in none.
  void leave_if_there(waiter& w, wait_end why, wake_list<Env>& notified) noexcept {
    spin_guard guard{lock_};
    if (line_.has(w) && line_.leave(w, why, notified)) grant(notified);
  }
  bool has_waiters() const noexcept {
    spin_guard guard{lock_};
    return !line_.empty();
  }

 private:
  template <class Stopped>
  wait_end take_or_enter(waiter& w, Stopped&& stopped) noexcept {
    spin_guard guard{lock_};
    if (stopped()) return wait_end::stopped;
    if (w.end != wait_end::none) return w.end;
    if (take(w.needs)) return w.end = wait_end::completed;
    return line_.enter(w) ? wait_end::none : static_cast<wait_end>(w.end);
  }
  bool take(std::uint32_t count) noexcept {
    if (!line_.empty() || free_ < count) return false;
    free_ -= count;
    return true;
  }
  void grant(wake_list<Env>& notified) noexcept {
    while (!line_.empty() && line_.first()->needs <= free_) {
      free_ -= line_.first()->needs;
      line_.complete_first(notified);
    }
  }

  std::uint32_t const most_;
  mutable spin_lock<Env> lock_;
  typename Env::template plain<std::uint32_t> free_;
  waiter_queue<Env> line_;
};

}  // namespace heist::detail
