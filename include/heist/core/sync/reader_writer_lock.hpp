// A lock for readers together and a writer alone. Waiters are overtaken at first; then it is handed over.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>  // exchange

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/core/sync/owned_lock.hpp"  // lock_waiter
#include "heist/core/sync/waiter_queue.hpp"

namespace heist::detail {

/// Order   readers that are first in line are handed the lock together. A writer that is first is woken when the lock is free,
///         and competes. If it competes and fails, the lock is handed to it next. Other callers may overtake the first
///         that waits `Bypass` times, and a writer as often again while it wakes up.
/// Threads any.
template <class Env = os_env, unsigned Bypass = 64>
class reader_writer_lock {
 public:
  using waiter = lock_waiter<Env>;
  reader_writer_lock() = default;
  reader_writer_lock(reader_writer_lock const&) = delete;
  reader_writer_lock& operator=(reader_writer_lock const&) = delete;

  /// As an owner: one of the readers.
  static constexpr std::uintptr_t reader = 0;
  /// The writer has been handed the lock, and does not run yet.
  static constexpr std::uintptr_t is_handed = 2;

  /// `id`: `reader`, or, of a writer, a multiple of 4.
  bool try_acquire(std::uintptr_t id) noexcept {
    spin_guard guard{lock_};
    return pass(id);
  }
  /// completed: `w` has the lock. none: it stands in line. Otherwise it was told before not to wait.
  wait_end acquire_or_enter(waiter& w) noexcept {
    spin_guard guard{lock_};
    if (w.end != wait_end::none) return w.end;
    if (pass(w.owner)) return w.end = wait_end::completed;
    if (!has_waiters()) set_passed(0);
    return line_.enter(w) ? wait_end::none : static_cast<wait_end>(w.end);
  }
  /// By the writer. False: there is none.
  [[nodiscard]] bool release(wake_list<Env>& notified) noexcept {
    spin_guard guard{lock_};
    if (writer() == 0) return false;
    set_writer(0);
    grant(notified);
    return true;
  }
  /// By a reader. False: there is none.
  [[nodiscard]] bool release_shared(wake_list<Env>& notified) noexcept {
    spin_guard guard{lock_};
    std::uint32_t const now = readers();
    if (now == 0) return false;
    set_readers(now - 1);
    grant(notified);
    return true;
  }
  /// By a waiter that was woken. It has the lock (completed), or stands in line again, in front (none), or has been told to
  /// wait no more.
  wait_end contend(waiter& w, wake_list<Env>& notified) noexcept {
    spin_guard guard{lock_};
    if (called_ != &w) {  // the lock was handed to it, or it left the line
      if (w.end == wait_end::completed && w.owner != reader) set_writer(w.owner);  // it runs
      return w.end;
    }
    called_ = nullptr;
    if (take(w.owner)) {
      set_passed(0);
      return w.end = wait_end::completed;
    }
    if (line_.enter_in_front(w)) {
      w.strict = true;
      set_passed(Bypass);
      return wait_end::none;
    }
    grant(notified);
    return w.end;
  }
  /// A waiter that is stopped or late leaves. Readers may have stood behind it.
  void leave(waiter& w, wait_end why, wake_list<Env>& notified) noexcept {
    spin_guard guard{lock_};
    if (line_.leave(w, why, notified)) grant(notified);
  }
  /// Before it is destroyed: waits until the last owner has left release(). True: there are waiters.
  bool has_waiter() const noexcept {
    spin_guard guard{lock_};
    return has_waiters();
  }

  /// The writer, and is_handed. 0: there is no writer. A snapshot.
  typename Env::template atomic<std::uintptr_t> const& word() const noexcept { return writer_; }
  std::uintptr_t writer() const noexcept {
    return writer_.load(std::memory_order_relaxed) & ~is_handed;  // relaxed: a hint, or under lock_
  }
  /// Would it be had at once? A snapshot.
  bool seems_free(std::uintptr_t id) const noexcept { return writer() == 0 && (id == reader || readers() == 0); }
  /// May it soon be taken before the waiters? A hint.
  bool frees_soon() const noexcept {
    std::uintptr_t const word = writer_.load(std::memory_order_relaxed);  // relaxed: as above
    return (word & is_handed) == 0 && passed() < Bypass;
  }

 private:
  std::uint32_t readers() const noexcept { return readers_.load(std::memory_order_relaxed); }    // relaxed: as above
  unsigned passed() const noexcept { return passed_.load(std::memory_order_relaxed); }           // relaxed: as above
  void set_writer(std::uintptr_t id) noexcept { writer_.store(id, std::memory_order_relaxed); }  // relaxed: as above
  void set_readers(std::uint32_t n) noexcept { readers_.store(n, std::memory_order_relaxed); }   // relaxed: as above
  void set_passed(unsigned times) noexcept { passed_.store(times, std::memory_order_relaxed); }  // relaxed: as above

  // All of these under lock_. A lock that is free and waited for has a called writer.
  bool has_waiters() const noexcept { return called_ != nullptr || !line_.empty(); }
  bool take(std::uintptr_t id) noexcept {
    if (!seems_free(id)) return false;
    id == reader ? set_readers(readers() + 1) : set_writer(id);
    return true;
  }
  /// Takes it for a caller that is not in line.
  bool pass(std::uintptr_t id) noexcept {
    if (!has_waiters()) return take(id);
    if (passed() >= Bypass || !take(id)) return false;
    set_passed(passed() + 1);
    return true;
  }
  bool hand_over(waiter& w) noexcept {
    if (!take(w.owner)) return false;
    if (w.owner != reader && w.competes) set_writer(w.owner | is_handed);
    set_passed(0);
    return true;
  }
  /// Hands the lock to the waiters that may have it, or calls a writer.
  void grant(wake_list<Env>& notified) noexcept {
    if (called_ != nullptr) {
      if (passed() >= Bypass && hand_over(*called_)) std::exchange(called_, nullptr)->end = wait_end::completed;
      return;
    }
    while (!line_.empty()) {
      waiter& first = static_cast<waiter&>(*line_.first());
      if (first.owner == reader || first.strict) {
        if (!hand_over(first)) return;
        line_.complete_first(notified);
      } else {
        if (!seems_free(first.owner)) return;
        line_.take_out(first, wait_end::none);
        called_ = &first;
        set_passed(0);
        notified.add(first);
        return;
      }
    }
  }

  mutable spin_lock<Env> lock_;
  typename Env::template atomic<std::uintptr_t> writer_{0};
  typename Env::template atomic<std::uint32_t> readers_{0};
  typename Env::template atomic<unsigned> passed_{0};  ///< times that other callers took it before the first that waits
  waiter* called_ = nullptr;                           ///< a writer that has been woken to compete, and has not done so
  waiter_queue<Env> line_;
};

}  // namespace heist::detail
