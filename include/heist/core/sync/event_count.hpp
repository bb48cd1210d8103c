// EventCount: a condition variable for lock-free conditions. A worker announces that it may sleep, looks once more for
// work, and only then sleeps. A thread that adds work notifies. After D. Vyukov's algorithm (the paper's [22]).
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>

#include "heist/core/base/assert.hpp"
#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/unique_ptr.hpp"

namespace heist::detail {

/// The state of an event_count in one word.
///
///    63         37   36   35        24 23        12 11         0
///   +-------------+------+------------+------------+------------+
///   |    epoch    | lent |  signals   | prewaiters |    top     |
///   +-------------+------+------------+------------+------------+
///
///   top         the youngest sleeper: its index + 1, 0 when there is none; the others hang below it
///   prewaiters  waiters between prepare_wait and commit_wait or cancel_wait
///   signals     how many of these prewaiters have been notified and must not sleep
///   lent        a sleeper has been taken off the list, and will be put back on it
///   epoch       counts changes of the list of sleepers, so that a stale word is never taken for a fresh one
template <unsigned EpochBits>
class event_count_word {
  static constexpr unsigned field_bits = 12;

 public:
  static constexpr std::uint64_t field_mask = (std::uint64_t{1} << field_bits) - 1;
  static constexpr std::uint64_t one_prewaiter = std::uint64_t{1} << field_bits;
  static constexpr std::uint64_t one_signal = std::uint64_t{1} << (2 * field_bits);
  static constexpr std::uint64_t one_lent = std::uint64_t{1} << (3 * field_bits);
  static constexpr std::uint64_t one_epoch = one_lent << 1;
  static constexpr std::uint64_t epoch_mask = ((std::uint64_t{1} << EpochBits) - 1) << (3 * field_bits + 1);
  static_assert(3 * field_bits + 1 + EpochBits <= 64, "heist: the five fields share one word of 64 bits");

  constexpr explicit event_count_word(std::uint64_t bits) noexcept : bits_{bits} {}
  constexpr std::uint64_t bits() const noexcept { return bits_; }

  constexpr std::uint64_t top() const noexcept { return bits_ & field_mask; }
  constexpr std::uint64_t prewaiters() const noexcept { return (bits_ >> field_bits) & field_mask; }
  constexpr std::uint64_t signals() const noexcept { return (bits_ >> (2 * field_bits)) & field_mask; }

  constexpr bool anybody_to_notify() const noexcept { return top() != 0 || signals() < prewaiters(); }
  constexpr bool anybody_waiting() const noexcept { return (bits_ & (field_mask | field_mask << field_bits)) != 0; }
  constexpr bool lent() const noexcept { return (bits_ & one_lent) != 0; }

  constexpr event_count_word plus(std::uint64_t amount) const noexcept { return event_count_word{bits_ + amount}; }
  constexpr event_count_word minus(std::uint64_t amount) const noexcept { return event_count_word{bits_ - amount}; }
  /// With another list of sleepers, in the next epoch.
  constexpr event_count_word with_top(std::uint64_t top) const noexcept {
    return event_count_word{(bits_ & ~field_mask & ~epoch_mask) | ((bits_ + one_epoch) & epoch_mask) | top};
  }
  /// Every prewaiter notified.
  constexpr event_count_word with_all_signalled() const noexcept {
    return event_count_word{(bits_ & ~(field_mask << (2 * field_bits))) | prewaiters() << (2 * field_bits)};
  }

  /// The invariant between any two steps.
  constexpr bool consistent(std::size_t waiters) const noexcept {
    return signals() <= prewaiters() && prewaiters() <= waiters && top() <= waiters;
  }

 private:
  std::uint64_t bits_;
};

// Edges (proof: README.md, "EventCount")
//   E1  notify: fence(seq_cst)         <-> prepare_wait: fence(seq_cst)   the notifier sees the prewaiter, or the
//                                                                         waiter sees the work added before notify
//   E2  commit_wait, put_back: state_.CAS(release) -> notify, lend: state_.load(acquire)  the sleeper's link `below`
//   E3  notify, put_back: word (release)   -> commit_wait: word.load(acquire)   the effects before notify
//   E4  notify, notify_all: calls_, then state_ -> prepare_wait: calls_; commit_wait: state_, then calls_
//                                                                         no waiter sleeps through a call to all, or
//                                                                         to it, that came after its prepare_wait

/// Waiter:   calls = prepare_wait(); if (work) cancel_wait(); else commit_wait(me, calls);
/// Notifier: add work; notify_one();
///
/// Threads  any thread may notify; a waiter uses its own index, from one thread at a time.
/// Cost     to notify without a waiter: a fence and a load. With a sleeper: a compare-and-swap and one system call;
///          notify() and notify_all() write to a counter that all share, too.
/// Requires a waiter commits only if, after prepare_wait(), the work that it looked for was not there. One that commits
///          although the work of an earlier notification was there may take the signal of a waiter that came before.
/// Promises a notify_one() that follows the adding of work wakes, or keeps awake, one of the waiters that did not see
///          the work; sleepers are woken youngest first, while their caches are warm.
///          notify_all() does so for every waiter, also where there is work that only one of them may take, and
///          notify() for one given waiter.
template <class Env = os_env>
class event_count {
  template <class U>
  using atomic = typename Env::template atomic<U>;
  static_assert(Env::epoch_bits >= 2);

 public:
  using word = event_count_word<Env::epoch_bits>;
  static constexpr std::size_t max_waiters = word::field_mask;
  static constexpr std::size_t none = ~std::size_t{0};

  /// `waiters`: how many threads may wait, at most max_waiters; their indices are 0 to waiters - 1.
  explicit event_count(std::size_t waiters) : waiters_{detail::make_unique<waiter[]>(waiters)}, count_{waiters} {}

  /// Announces that the caller may sleep. A notifier after this sees the caller, so: look for work once more.
  /// Returns the argument of commit_wait().
  std::uint32_t prepare_wait() noexcept {
    std::uint32_t const calls = calls_.load(std::memory_order_acquire);  // acquire: E4
    // relaxed: the fence orders it (E1)
    word const before{state_.fetch_add(word::one_prewaiter, std::memory_order_relaxed)};
    HEIST_ASSERT(before.consistent(count_), "event_count: inconsistent state word");
    static_cast<void>(before);
    Env::fence(std::memory_order_seq_cst);  // E1
    return calls;
  }

  /// Takes the announcement back.
  HEIST_NOINLINE void cancel_wait() noexcept {
    word now{state_.load(std::memory_order_relaxed)};  // relaxed: the exchange below decides
    for (;;) {
      // If every prewaiter has been notified, one of the signals is the caller's.
      bool const mine = now.signals() == now.prewaiters();
      word const then = now.minus(word::one_prewaiter + (mine ? word::one_signal : 0));
      if (swap(now, then, std::memory_order_acquire)) return;  // acquire: a signal taken carries what its notifier did
      Env::relax();
    }
  }

  /// Sleeps until notified; returns at once if a notification came since prepare_wait(), which gave `calls`.
  void commit_wait(std::size_t me, std::uint32_t calls) noexcept {
    commit_wait(me, calls, 0, [](auto&&) {});
  }

  /// As above. After so many `nanoseconds` (0: never) calls `idle(still)` once, then sleeps on. It is a sleeper
  /// meanwhile, as before and after: its notifier waits for `idle` to return, which is to do so soon after
  /// `still()` has become false.
  template <class Idle>
  void commit_wait(std::size_t me, std::uint32_t calls, std::int64_t nanoseconds, Idle&& idle) noexcept {
    waiter& self = waiters_[me];
    std::uint32_t seen = self.is_listed ? self.word.load(std::memory_order_relaxed) : awake;  // relaxed: decided below
    self.is_listed = seen >= called;
    if (!self.is_listed) self.word.store(seen = awake, std::memory_order_relaxed);  // relaxed: published by E2
    self.place.before_sleep(Env::thread_number());
    word now{state_.load(std::memory_order_acquire)};  // acquire: E2, E4
    for (;;) {
      // It has been called, or all have been. Another waiter may have taken the signal that was meant for this one.
      if (calls_.load(std::memory_order_acquire) != calls) {  // acquire: E4
        cancel_wait();
        return;
      }
      word const without = now.minus(word::one_prewaiter);
      if (now.signals() != 0) {
        // acquire: a signal carries its notifier's earlier effects
        if (swap(now, without.minus(word::one_signal), std::memory_order_acquire)) return;
      } else if (self.is_listed) {
        if (swap(now, without, std::memory_order_acq_rel)) break;  // E4
      } else {
        self.below.store(now.top(), std::memory_order_relaxed);                     // relaxed: published by E2
        if (swap(now, without.with_top(me + 1), std::memory_order_acq_rel)) break;  // E2
      }
      Env::relax();
    }
    // Unless it has been notified, or called.
    self.word.compare_exchange(seen, asleep, std::memory_order_acq_rel);  // E3
    while (sleeps(seen = self.word.load(std::memory_order_acquire))) {    // E3
      if (nanoseconds == 0) {
        self.word.wait(seen);
      } else if (self.word.wait_for(seen, nanoseconds)) {
        nanoseconds = 0;
        idle([&self] { return sleeps(self.word.load(std::memory_order_relaxed)); });  // relaxed: a hint
      }
    }
    self.is_listed = true;
    is_awake(self);
  }

  /// Wakes, or keeps awake, one waiter, if there is any. `goes_on`: the caller does not sleep soon, so a sleeper must not
  /// have to wait for its processor. False if there is no waiter.
  bool notify_one(bool goes_on = false) noexcept {
    Env::fence(std::memory_order_seq_cst);             // E1
    word now{state_.load(std::memory_order_acquire)};  // E2
    for (;;) {
      if (!now.anybody_to_notify()) return now.prewaiters() != 0;
      if (now.signals() < now.prewaiters()) {
        // release: pairs with the acquire of the prewaiter that takes the signal
        if (swap(now, now.plus(word::one_signal), std::memory_order_acq_rel)) return true;
      } else {
        waiter& sleeper = waiters_[now.top() - 1];
        std::uint64_t const below =
            sleeper.below.load(std::memory_order_relaxed);                // relaxed: E2; a stale one fails below
        if (swap(now, now.with_top(below), std::memory_order_acq_rel)) {  // acquire: E2 for the next round
          if (wake(sleeper, goes_on)) return true;
          now = word{state_.load(std::memory_order_acquire)};  // E2
          continue;
        }
      }
      Env::relax();
    }
  }

  /// Wakes, or keeps awake, this waiter, because of work that only it may take. True if it slept. Waiters that are about to
  /// sleep look once more.
  bool notify(std::size_t which) noexcept {
    HEIST_ASSERT(which < count_, "event_count: no such waiter");
    word now{0};
    if (!begin_call(now)) return false;
    // Prewaiters that have read the word must fail on it (E4).
    while (now.anybody_waiting() && !swap(now, now.with_top(now.top()), std::memory_order_acq_rel)) Env::relax();  // E2
    waiter& its = waiters_[which];
    std::uint32_t seen = its.word.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    while (seen != notified && seen != taken) {
      std::uint32_t const then = seen < called || seen == ~std::uint32_t{0} ? called : seen + 1;
      if (!its.word.compare_exchange(seen, then, std::memory_order_acq_rel)) continue;  // E3
      if (seen == asleep) its.word.wake_one();
      return seen == asleep;
    }
    return false;
  }

  /// Wakes, or keeps awake, all waiters that there are now.
  void notify_all() noexcept {
    word now{0};
    if (!begin_call(now)) return;
    // This includes waiters that have a signal: a prewaiter that has read the word must fail on it (E4), and other
    // waiters may take the signals that are there.
    while (!swap(now, now.with_all_signalled().with_top(0), std::memory_order_acq_rel)) {  // as in notify_one
      if (!now.anybody_waiting()) return;
      Env::relax();
    }
    for (std::uint64_t top = now.top(); top != 0;) {
      waiter& sleeper = waiters_[top - 1];
      top =
          sleeper.below.load(std::memory_order_relaxed);  // relaxed: E2; read before the sleeper may wake and reuse it
      wake(sleeper, false);
    }
  }

  /// Takes the youngest sleeper off the list. It sleeps on, and nobody wakes it before put_back(). Returns its index. Returns
  /// `none` if nobody sleeps, the youngest is just falling asleep, or another sleeper is lent.
  std::size_t lend() noexcept {
    word now{state_.load(std::memory_order_acquire)};  // acquire: E2
    for (;;) {
      std::uint64_t const top = now.top();
      if (top == 0 || now.lent()) return none;
      waiter& youngest = waiters_[top - 1];
      std::uint32_t seen = youngest.word.load(std::memory_order_relaxed);          // relaxed: decided below
      std::uint64_t const below = youngest.below.load(std::memory_order_relaxed);  // relaxed: as in notify_one
      if (seen != asleep && seen < called) return none;                            // it is about to sleep
      std::uint64_t const bit = seen == asleep ? word::one_lent : 0;
      if (swap(now, now.with_top(below).plus(bit), std::memory_order_acq_rel)) {                                 // E2
        if (bit != 0 && youngest.word.compare_exchange(seen, taken, std::memory_order_acq_rel)) return top - 1;  // E3
        wake(youngest, false);                                                                   // it has been called
        now = word{state_.load(std::memory_order_acquire)};                                      // E2
        while (bit != 0 && !swap(now, now.minus(bit), std::memory_order_acq_rel)) Env::relax();  // E2
        continue;
      }
      Env::relax();
    }
  }
  /// Puts it back. The caller looks for work then, also for what only this sleeper may take, and calls notify_all() if
  /// there is some.
  void put_back(std::size_t lent) noexcept {
    waiters_[lent].word.store(asleep, std::memory_order_release);  // E3: it may be called before it is in the list
    word now{state_.load(std::memory_order_relaxed)};              // relaxed: the exchange below decides
    for (;;) {
      waiters_[lent].below.store(now.top(), std::memory_order_relaxed);  // relaxed: published by E2
      if (swap(now, now.with_top(lent + 1).minus(word::one_lent), std::memory_order_acq_rel)) break;  // E2
      Env::relax();
    }
    Env::fence(std::memory_order_seq_cst);  // E1: as in prepare_wait
  }

  /// As maybe_waiting(), and true while a sleeper is lent. If it is false for a thread that has added
  /// work, each later sleeper fences after that, and sees the work.
  bool maybe_waiting_or_lent() const noexcept {
    word const now{state_.load(std::memory_order_relaxed)};  // relaxed: a hint
    return now.anybody_waiting() || now.lent();
  }
  /// True if a waiter sleeps or is about to. A hint: exact only after a fence that pairs with the waiter's.
  bool maybe_waiting() const noexcept {
    return word{state_.load(std::memory_order_relaxed)}.anybody_waiting();  // relaxed: a hint
  }

  word state() const noexcept { return word{state_.load(std::memory_order_relaxed)}; }  // relaxed: for printing

 private:
  /// Values of a waiter's word. `taken`: the waiter sleeps, off the list. It is lent, or a notifier is about to wake it.
  /// `called` and above: notify() has called the waiter, once more for each step above `called`. A called waiter in the list
  /// stays there until a notifier pops it and writes `notified`.
  static constexpr std::uint32_t awake = 0, asleep = 1, notified = 2, taken = 3, called = 4;
  static constexpr bool sleeps(std::uint32_t word) noexcept { return word == asleep || word == taken; }

  struct alignas(cache_line_size) waiter {
    typename Env::park_word word;
    typename Env::template plain<bool> is_listed{
        false};                      ///< its own: it has entered the list since its word was `awake`
    atomic<std::uint64_t> below{0};  ///< index + 1 of the next sleeper; its owner writes it before E2
    typename Env::sleeper_place place;
  };

  /// One step of the state; on failure `now` is its value, acquired (E2).
  bool swap(word& now, word then, std::memory_order success) noexcept {
    std::uint64_t expected = now.bits();
    bool const done = state_.compare_exchange_weak(expected, then.bits(), success,  // as the caller says
                                                   std::memory_order_acquire);      // E2
    if (!done) now = word{expected};
    HEIST_ASSERT((done ? then : now).consistent(count_), "event_count: inconsistent state word");
    return done;
  }

  /// Counts a call, unless nobody waits. `now`: the state after that.
  bool begin_call(word& now) noexcept {
    Env::fence(std::memory_order_seq_cst);  // E1
    if (!maybe_waiting()) return false;
    calls_.fetch_add(1, std::memory_order_release);      // release: E4
    now = word{state_.load(std::memory_order_acquire)};  // E2
    return true;
  }
  void is_awake(waiter& self) noexcept {
    constexpr int times = 1000;  // then it must be seen again
    if (self.place.after_sleep(Env::nanoseconds())) late_.store(times, std::memory_order_relaxed);  // relaxed: a hint
  }
  /// Of one that has been taken off the list. False if it was awake, because it has been called.
  HEIST_NOINLINE bool wake(waiter& sleeper, bool goes_on) noexcept {
    std::uint32_t seen = sleeper.word.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    for (;;) {
      std::uint32_t const then = seen == asleep ? taken : notified;
      if (sleeper.word.compare_exchange(seen, then, std::memory_order_acq_rel)) break;  // E3
    }
    if (seen != asleep) return seen == awake;                                    // this one has not slept yet
    bool const keep_off = goes_on && late_.load(std::memory_order_relaxed) > 0;  // relaxed: a hint
    if (keep_off) late_.fetch_sub(1, std::memory_order_relaxed);                 // relaxed: as above
    sleeper.place.wakes(Env::nanoseconds(), keep_off);
    sleeper.word.store(notified, std::memory_order_release);  // E3
    sleeper.word.wake_one();
    return true;
  }

  alignas(cache_line_size) atomic<std::uint64_t> state_{0};
  atomic<std::uint32_t> calls_{0};  ///< notify()s and notify_all()s so far
  detail::unique_ptr<waiter[]> waiters_;
  std::size_t count_;
  atomic<int> late_{0};  ///< so many sleepers more are kept off their wakers' processors
};

}  // namespace heist::detail
