// Permits of which there is a fixed number, and the line of those that wait for one. heist::thread_limit uses it.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <utility>  // exchange

#include "heist/core/base/env.hpp"
#include "heist/core/base/spin_lock.hpp"

namespace heist::detail {

// Edges (proof: README.md, "Limit of threads")
//   L1  grant: word.store(release) -> acquire: word.load(acquire)   nothing goes along but the permit itself

/// Permits to work, and a line of the threads that wait for one. A thread that waits asks the members each millisecond to
/// give way. Members that want permits have the same number of them, in the mean.
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
    std::size_t taken_ = 0;  ///< permits that its threads have
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
    notice_fork();
    most_ = most;
    while (grant_next()) {
    }
    change_wanted();
    if (wanted()) ask_members();
  }

  /// In a child of fork() the first one finds the line empty and all permits free: the threads that had some are not there.
  void join(member& m) noexcept {
    spin_guard const guard{lock_};
    notice_fork();
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
  [[nodiscard]] bool try_acquire(member& of) noexcept {
    spin_guard const guard{lock_};
    if (first_ != nullptr || taken_ >= most_) return false;
    take(of);
    return true;
  }
  /// Waits in the line, as one of `of`, for a permit. False if `stops()` is true, or cancel(of) is called, before there
  /// is one.
  template <class Stops>
  [[nodiscard]] bool acquire(member& of, Stops&& stops) noexcept {
    place me{of};
    {
      spin_guard const guard{lock_};
      if (stops()) return false;  // under the lock, so cancel() comes later, or has come
      if (first_ == nullptr && taken_ < most_) return take(of), true;
      enter(me);
    }
    return wait(me);
  }
  void release(member& of) noexcept {
    spin_guard const guard{lock_};
    give(of);
    grant_next(&of);
    change_wanted();
  }
  /// A thread of `of` gives its permit to the first in the line that has a claim. Then it waits as in acquire(). If nobody has
  /// a claim, it keeps the permit, and the result is true.
  template <class Stops>
  [[nodiscard]] bool pass(member& of, Stops&& stops) noexcept {
    place me{of};
    {
      spin_guard const guard{lock_};
      if (stops()) return true;
      if (taken_ <= most_) {
        place* before = nullptr;
        place* at = first_;
        while (at != nullptr && !has_claim(*at, of)) before = std::exchange(at, at->next);
        if (at == nullptr) return true;
        give(of);
        grant(before, *at);
      } else {
        give(of);
      }
      enter(me);
    }
    return wait(me);
  }
  /// Those of `of` that wait leave the line without a permit.
  void cancel(member& of) noexcept {
    spin_guard const guard{lock_};
    place* before = nullptr;
    for (place* at = first_; at != nullptr;) {
      place* const after = at->next;
      if (at->of == &of) {
        take_out(before, *at);
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
  static constexpr int patience = 8;  ///< so often a thread asks before its member's permits are for it

  /// A place in the line, on the stack of the thread that waits.
  struct place {
    explicit place(member& whose) noexcept : of{&whose} {}
    /// The place may be gone after this.
    void end(std::uint32_t how) noexcept {
      word.store(how, std::memory_order_release);  // L1
      word.wake_one();                             // the address only
    }
    member* of;
    place* next = nullptr;
    int asked = 0;
    typename Env::park_word word;
  };

  bool wait(place& me) noexcept {
    while (me.word.load(std::memory_order_acquire) == waits) {  // L1
      if (!me.word.wait_for(waits, ask_again_after)) continue;
      spin_guard const guard{lock_};
      if (me.word.load(std::memory_order_relaxed) != waits) continue;  // relaxed: under the lock
      if (me.asked < patience) ++me.asked;
      ask_members();
    }
    return me.word.load(std::memory_order_relaxed) == granted;  // relaxed: read above
  }

  // All under the lock.
  void notice_fork() noexcept {
    if (process_ == Env::process()) return;
    process_ = Env::process();
    first_ = last_ = nullptr;
    members_ = nullptr;
    taken_ = 0;
    change_wanted();
  }
  /// A permit that its member has goes to another thread seldom: that changes which thread works, and not how many.
  static bool has_claim(place const& p, member const& on) noexcept {
    return p.of == &on ? p.asked >= patience : p.of->taken_ < on.taken_;
  }
  void take(member& of) noexcept { ++taken_, ++of.taken_; }
  void give(member& of) noexcept { --taken_, --of.taken_; }
  void enter(place& me) noexcept {
    (first_ == nullptr ? first_ : last_->next) = &me;
    last_ = &me;
    change_wanted();
    ask_members();
  }
  void take_out(place* before, place& p) noexcept {
    (before == nullptr ? first_ : before->next) = p.next;
    if (last_ == &p) last_ = before;
  }
  void grant(place* before, place& p) noexcept {
    take_out(before, p);
    take(*p.of);
    p.end(granted);
  }
  /// Grants a free permit. Threads that have waited long come first. Then come the threads of other members than `giver`, and
  /// of these the threads of the member that has the fewest permits. Of equals the oldest gets it.
  bool grant_next(member const* giver = nullptr) noexcept {
    if (first_ == nullptr || taken_ >= most_) return false;
    place* best = first_;
    place* before_best = nullptr;
    auto const comes_before = [giver](place const& a, place const& b) {
      if (bool const waits_long = a.asked >= patience; waits_long != (b.asked >= patience)) return waits_long;
      if (bool const gives = a.of == giver; gives != (b.of == giver)) return !gives;
      return a.of->taken_ < b.of->taken_;
    };
    for (place* before = first_; place* const at = before->next; before = at) {
      if (comes_before(*at, *best)) best = at, before_best = before;
    }
    grant(before_best, *best);
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
