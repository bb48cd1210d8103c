// Permits of which there is a fixed number, and the line of those that wait for one. heist::thread_limit uses it.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>

#include "heist/core/base/env.hpp"
#include "heist/core/sync/spin_lock.hpp"

namespace heist::detail {

// Edges (proof: README.md, "Limit of threads")
//   L1  grant: word.store(release) -> acquire: word.load(acquire)   nothing goes along but the permit itself

/// Permits to work, and a line of the threads that wait for one. A thread that waits asks the members each millisecond to
/// give way.
///
/// Threads  any.
/// Cost     acquire() and release() take a lock for some instructions. A thread that waits sleeps.
template <class Env = os_env>
class permit_line {
 public:
  /// One that takes permits, such as an executor.
  class member {
   public:
    member() = default;
    member(member const&) = delete;
    member& operator=(member const&) = delete;

   protected:
    ~member() = default;
    /// Asks all its threads with a permit to give way when they can, because a thread waits. Called under the lock.
    virtual void ask() noexcept = 0;

   private:
    friend permit_line;
    member* next_ = nullptr;
  };

  explicit permit_line(std::size_t most) noexcept : most_{most} {}
  permit_line(permit_line const&) = delete;
  permit_line& operator=(permit_line const&) = delete;

  std::size_t max() const noexcept {
    spin_guard const guard{lock_};
    return most_;
  }
  /// If there are too many permits then, the members are asked to give some back.
  void set_max(std::size_t most) noexcept {
    spin_guard const guard{lock_};
    most_ = most;
    while (grant_next()) {
    }
    change_wanted();
    if (wanted()) ask_members();
  }

  /// In a child of fork() the first one finds the line empty and all permits free: the threads that had some are not there.
  void join(member& m) noexcept {
    spin_guard const guard{lock_};
    if (process_ != Env::process()) {
      process_ = Env::process();
      first_ = last_ = nullptr;
      members_ = nullptr;
      taken_ = 0;
      change_wanted();
    }
    m.next_ = members_;
    members_ = &m;
  }
  /// When it returns, `m` is asked no more. In a child of fork() it need not be one.
  void leave(member& m) noexcept {
    spin_guard const guard{lock_};
    member** at = &members_;
    while (*at != nullptr && *at != &m) at = &(*at)->next_;
    if (*at != nullptr) *at = m.next_;
  }

  /// Does somebody wait for a permit, or are there too many? A hint.
  bool wanted() const noexcept { return wanted_.load(std::memory_order_relaxed); }  // relaxed: a hint

  /// False if the caller would have to wait.
  [[nodiscard]] bool try_acquire() noexcept {
    spin_guard const guard{lock_};
    if (first_ != nullptr || taken_ >= most_) return false;
    ++taken_;
    return true;
  }
  /// Waits in the line, as one of `of`, for a permit. False if `stops()` is true, or cancel(of) is called, before there
  /// is one.
  template <class Stops>
  bool acquire(void const* of, Stops&& stops) noexcept {
    place me{of};
    {
      spin_guard const guard{lock_};
      if (stops()) return false;  // under the lock, so cancel() comes later, or has come
      if (first_ == nullptr && taken_ < most_) return ++taken_, true;
      (first_ == nullptr ? first_ : last_->next) = &me;
      last_ = &me;
      change_wanted();
      ask_members();
    }
    while (me.word.load(std::memory_order_acquire) == waits) {  // L1
      if (!me.word.wait_for(waits, ask_again_after)) continue;
      spin_guard const guard{lock_};
      // relaxed: under the lock
      if (me.word.load(std::memory_order_relaxed) == waits) ask_members();
    }
    return me.word.load(std::memory_order_relaxed) == granted;  // relaxed: read above
  }
  void release() noexcept {
    spin_guard const guard{lock_};
    --taken_;
    grant_next();
    change_wanted();
  }
  /// Those of `of` that wait leave the line without a permit.
  void cancel(void const* of) noexcept {
    spin_guard const guard{lock_};
    place* before = nullptr;
    for (place* at = first_; at != nullptr;) {
      place* const after = at->next;
      if (at->of == of) {
        (before == nullptr ? first_ : before->next) = after;
        if (after == nullptr) last_ = before;
        at->end(cancelled);
      } else {
        before = at;
      }
      at = after;
    }
    change_wanted();
  }

 private:
  static constexpr std::uint32_t waits = 0, granted = 1, cancelled = 2;
  static constexpr std::int64_t ask_again_after = 1'000'000;  ///< ns

  /// A place in the line, on the stack of the thread that waits.
  struct place {
    explicit place(void const* whose) noexcept : of{whose} {}
    /// The place may be gone after this.
    void end(std::uint32_t how) noexcept {
      word.store(how, std::memory_order_release);  // L1
      word.wake_one();                             // the address only
    }
    void const* of;
    place* next = nullptr;
    typename Env::park_word word;
  };

  // All under the lock.
  bool grant_next() noexcept {
    if (first_ == nullptr || taken_ >= most_) return false;
    place& p = *first_;
    first_ = p.next;
    ++taken_;
    p.end(granted);
    return true;
  }
  void change_wanted() noexcept {
    bool const now = first_ != nullptr || taken_ > most_;
    if (now != wanted()) wanted_.store(now, std::memory_order_relaxed);  // relaxed: a hint
  }
  void ask_members() noexcept {
    for (member* m = members_; m != nullptr; m = m->next_) m->ask();
  }

  mutable spin_lock<Env> lock_;  // guards the rest
  std::size_t most_, taken_ = 0;
  place* first_ = nullptr;
  place* last_ = nullptr;
  member* members_ = nullptr;
  std::uint32_t process_ = Env::process();
  typename Env::template atomic<bool> wanted_{false};  ///< changed under the lock
};

}  // namespace heist::detail
