// Does a worker without work search on, yield, or sleep? And which workers does it keep awake?
#pragma once

#include <concepts>
#include <cstdint>
#include <utility>  // exchange

namespace heist::idle {

/// A thief's next step after a failed steal attempt.
enum class step {
  search,  ///< try the next victim at once
  pause,   ///< let the core rest for pauses() relax instructions, then try
  yield,   ///< give the core to another thread, then try
  sleep    ///< end the search: prepare to sleep
};

/// Decides how long to search and which workers stay awake. The protocol that carries the decisions out, and the proof
/// that no worker sleeps through work, are in core/sync/idle_gate.hpp and core/sync/README.md, "Sleep".
///
/// Promises  I1  failed() returns step::sleep after finitely many calls since begin(), or never_sleeps is true.
///           I2  the constants below never change.
///           I3  wake_delay() is bounded by some microseconds: work waits no longer for a thief that could take it.
/// Threads   one object per worker, used by that worker alone: no atomics, no locks, no allocation.
///
/// begin() opens a search, told how many ticks (os_env::ticks) the worker has worked since its last one; for wake_delay()
/// relax instructions it then leaves other workers alone.
///
///   never_sleeps     thieves search until they find work or the executor stops
///   keeps_a_thief    the last thief stays awake while any worker is active (Algorithm 5, line 29)
///   wakes_on_push    a push while there is a sleeper and no thief wakes one sleeper
///   helpers          how many sleepers the thieves that fail at a busy worker wake for it, each time it gets work
// clang-format off
template <class P>
concept idle_policy =
    std::default_initializable<P> && std::movable<P> &&
    requires(P p, std::uint32_t workers, std::uint64_t ticks) {
      { p.begin(workers, ticks) } noexcept -> std::same_as<void>;
      { p.wake_delay() } noexcept -> std::same_as<std::uint32_t>;
      { p.failed() } noexcept -> std::same_as<step>;
      { p.pauses() } noexcept -> std::same_as<std::uint32_t>;
      { P::never_sleeps } -> std::convertible_to<bool>;
      { P::keeps_a_thief } -> std::convertible_to<bool>;
      { P::wakes_on_push } -> std::convertible_to<bool>;
      { P::helpers } -> std::convertible_to<std::uint32_t>;
    };

/// An idle policy that is told after each sleep for how many ticks its worker has slept; before the worker's next begin(),
/// but searches of a helper that has carried the worker meanwhile may have come between.
template <class P>
concept sleep_told_policy =
    idle_policy<P> && requires(P p, std::uint64_t ticks) { { p.slept(ticks) } noexcept -> std::same_as<void>; };
// clang-format on

/// The paper's (Lin, Huang and Wong, Algorithms 2 to 5): while a worker is active, one thief is awake; the other
/// thieves go to sleep after STEAL_BOUND + YIELD_BOUND failed attempts.
class adaptive {
 public:
  static constexpr bool never_sleeps = false;
  static constexpr bool keeps_a_thief = true;
  static constexpr bool wakes_on_push = false;
  static constexpr std::uint32_t helpers = 0;

  void begin(std::uint32_t workers, std::uint64_t) noexcept {
    failed_steals_ = yields_ = 0;
    steal_bound_ = 2 * (workers + 1);  // the paper's section III
  }
  step failed() noexcept {
    if (++failed_steals_ < steal_bound_) return step::search;
    return ++yields_ < yield_bound ? step::yield : step::sleep;
  }
  std::uint32_t pauses() const noexcept { return 0; }
  std::uint32_t wake_delay() const noexcept { return 0; }

 private:
  static constexpr std::uint32_t yield_bound = 100;  // the paper's section III
  std::uint32_t failed_steals_ = 0, yields_ = 0, steal_bound_ = 0;
};

/// ABP (Arora, Blumofe and Plaxton 1998), the paper's first rival: thieves yield before every attempt and never sleep.
class spinning {
 public:
  static constexpr bool never_sleeps = true;
  static constexpr bool keeps_a_thief = false;
  static constexpr bool wakes_on_push = false;
  static constexpr std::uint32_t helpers = 0;

  void begin(std::uint32_t, std::uint64_t) noexcept {}
  step failed() noexcept { return step::yield; }
  std::uint32_t pauses() const noexcept { return 0; }
  std::uint32_t wake_delay() const noexcept { return 0; }
};

/// BWS (Ding et al., EuroSys 2012) as the paper modified it, its second rival: a thief sleeps after SleepThreshold
/// failed attempts; for every worker that got work, thieves that find nothing at it wake two sleepers; the last thief
/// is the watchdog that never sleeps while a worker is active.
///
/// Two differences: the papers' watchdog stays awake without any work too; ours sleeps when no worker is active, so
/// that an idle executor costs nothing. And their thieves never yield their cores; ours do once in a search, after the
/// 63rd attempt. Otherwise a watchdog that spins for a long task would keep the core from other threads.
class bws {
 public:
  static constexpr bool never_sleeps = false;
  static constexpr bool keeps_a_thief = true;
  static constexpr bool wakes_on_push = false;
  static constexpr std::uint32_t helpers = 2;

  void begin(std::uint32_t, std::uint64_t) noexcept { failed_steals_ = 0; }
  step failed() noexcept {
    if (++failed_steals_ == sleep_threshold) return step::sleep;
    return failed_steals_ == sleep_threshold - 1 ? step::yield : step::search;
  }
  std::uint32_t pauses() const noexcept { return 0; }
  std::uint32_t wake_delay() const noexcept { return 0; }

 private:
  static constexpr std::uint32_t sleep_threshold = 64;  // the paper's section III
  std::uint32_t failed_steals_ = 0;
};

/// Ours: a thief searches with growing pauses for some tens of microseconds, then sleeps, whether or not a worker is
/// active. A push wakes a sleeper when there is no thief. One long task alone costs no CPU on the other workers.
///
/// After a sleep so short that a longer search would have met the work it searches four times as long. If a sleeper
/// took longer to come than other workers search, two workers that wait for each other in turn would wake each other in
/// every step, for ever. If that search ends in a sleep, too, it found nothing, and the next such sleeps, more each
/// time, change nothing. So a worker to which something comes every 30 to 100 us stays awake.
///
/// A worker that has been woken was called for something. So it first makes as many attempts without a pause as the
/// paper's thieves do before they yield, and finds the one victim among many.
///
/// A thief's last task tells whether stealing pays: if the task took less time than a steal, the thief holds back,
/// twice as long each time. So a victim with tiny tasks gets ahead, and no thief slows it down.
class standard {
 public:
  static constexpr bool never_sleeps = false;
  static constexpr bool keeps_a_thief = false;
  static constexpr bool wakes_on_push = true;
  static constexpr std::uint32_t helpers = 0;

  void begin(std::uint32_t workers, std::uint64_t worked) noexcept {
    bool const has_worked = worked != ~std::uint64_t{0};
    if (failed_steals_ > attempts && has_worked) forgo_ = 0;  // the longer search has found something
    failed_steals_ = 0;
    hurry_ = std::exchange(notified_, false) ? 2 * (workers + 1) : 0;
    if (worked >= poor_booty) {
      wake_delay_ = 0;
    } else {
      wake_delay_ = wake_delay_ == 0                ? first_wake_delay
                    : wake_delay_ < most_wake_delay ? 2 * wake_delay_
                                                    : most_wake_delay;
    }
  }
  std::uint32_t wake_delay() const noexcept { return wake_delay_; }

  void slept(std::uint64_t ticks) noexcept {
    failed_steals_ = 0;
    notified_ = true;
    if (std::exchange(greater_, false)) {
      left_to_forgo_ = forgo_ = forgo_ < most_forgone ? 2 * forgo_ + 1 : forgo_;
    } else if (ticks < short_sleep) {
      if (left_to_forgo_ == 0)
        greater_ = true;
      else
        --left_to_forgo_;
    }
  }

  step failed() noexcept {
    if (hurry_ != 0) {
      --hurry_;
      return step::search;
    }
    if (++failed_steals_ == (greater_ ? longer * attempts : attempts)) return step::sleep;
    return failed_steals_ >= first_yield && failed_steals_ % 8 == 0 ? step::yield : step::pause;
  }
  /// Doubles every few attempts: a thief that asks too often slows its victim's deque down.
  std::uint32_t pauses() const noexcept {
    std::uint32_t const doublings = failed_steals_ / 8;
    return doublings < 5 ? 1u << doublings : 32u;
  }

 private:
  static constexpr std::uint32_t attempts = 56;  // some 20 us, most of it in pauses of about 0.7 us
  static constexpr std::uint32_t longer = 4;
  static constexpr std::uint64_t short_sleep =
      600'000;  // ticks, some 200 us on x86: two sleepers that wait for each other
  static constexpr std::uint32_t most_forgone = 255;
  static constexpr std::uint32_t first_yield = 24;  // after some 2 us: work that comes sooner finds it awake
  static constexpr std::uint64_t poor_booty =
      300;  // ticks, about a tenth of a microsecond: the cost of a steal for both sides
  static constexpr std::uint32_t first_wake_delay = 8, most_wake_delay = 256;  // pauses: 0.2 to 6 us
  std::uint32_t failed_steals_ = 0;
  std::uint32_t wake_delay_ = 0;
  bool notified_ = false;                        // since the last search
  std::uint32_t hurry_ = 0;                      // attempts without a pause
  bool greater_ = false;                         // searches longer
  std::uint32_t forgo_ = 0, left_to_forgo_ = 0;  // short sleeps that change nothing
};

static_assert(idle_policy<adaptive> && idle_policy<spinning> && idle_policy<bws> && idle_policy<standard>);
static_assert(sleep_told_policy<standard>);

}  // namespace heist::idle
