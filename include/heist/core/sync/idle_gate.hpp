// Which workers are awake: the counters of active workers and thieves, and the door through which workers go to sleep.
// Algorithms 1, 3 and 5 of the paper, and the protocol of policies that wake on push (README.md, "Sleep"). Where
// workers are divided into squads each squad has a gate of its own, in a ring.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/sync/event_count.hpp"

namespace heist::detail {

/// The outcome of an attempt to sleep.
enum class idle_outcome {
  search,  ///< the caller has not slept: there may be work, or a worker must stay awake; the caller is a thief still
  slept    ///< slept and woken; the caller is no thief now
};

// Edges (proof: README.md, "Sleep"; numbers as there)
//   S1  pushed: light_fence               <-> try_sleep: heavy_fence   pusher sees the prewaiter, or sleeper the task
//   S2  pushed, submitted: fence(seq_cst) <-> found_work, try_sleep: fence(seq_cst)
//                                             pusher sees that no thief is left, or the leaving thief sees the task
//   S3  set_active: fence(seq_cst)    <-> try_sleep: fence(seq_cst)   Lemma 1: the new active worker sees no thief,
//                                                                        or the last thief sees an active worker

/// The constants of an idle policy (core/policy/idle.hpp) as values, so that the code which pushes need not know its type.
struct idle_config {
  bool never_sleeps;
  bool keeps_a_thief;
  bool wakes_on_push;

  template <class Idle>
  static constexpr idle_config of() noexcept {
    return {Idle::never_sleeps, Idle::keeps_a_thief, Idle::wakes_on_push};
  }
};

/// Threads  every member may be called by any worker; submitted(), wake(), wake_for(), wake_here()
///          and wake_all() by any thread.
/// Cost     pushed() in the steady state: one load of a line that changes only when workers fall asleep or wake.
template <class Env = os_env>
class idle_gate {
  using count = typename Env::template atomic<std::uint32_t>;

 public:
  idle_gate(std::size_t workers, idle_config config) : notifier_{workers}, config_{config} {}
  idle_gate(idle_gate const&) = delete;
  idle_gate& operator=(idle_gate const&) = delete;

  /// Becomes one more gate of `ring`, before any worker uses either. Work that every worker may take is told to the
  /// ring, this gate's workers first. A worker is active for the whole ring.
  void join(idle_gate& ring) noexcept {
    next_ = ring.next_;
    ring.next_ = this;
    active_count_ = ring.active_count_;
  }

  /// A worker got its first task (Algorithm 3, line 2): the first active worker makes sure that there is a thief.
  void set_active() noexcept {
    if (config_.keeps_a_thief) {
      // relaxed: a count; the fence orders it (S3)
      if (active_count_->fetch_add(1, std::memory_order_relaxed) == 0) {
        Env::fence(std::memory_order_seq_cst);  // S3
        idle_gate* g = this;
        do {
          if (g->thieves_.load(std::memory_order_relaxed) == 0) g->notifier_.notify_one(true);  // relaxed: S3
          g = g->next_;
        } while (g != this);
      }
    }
  }
  /// A worker has run out of tasks (Algorithm 3, line 13).
  void set_inactive() noexcept {
    if (config_.keeps_a_thief) active_count_->fetch_sub(1, std::memory_order_relaxed);  // relaxed: a count
  }

  /// A worker begins to search (Algorithm 5, line 2).
  void start_stealing() noexcept { thieves_.fetch_add(1, std::memory_order_relaxed); }  // relaxed: a count

  /// A thief has found a task (Algorithm 5, lines 5 and 15): the last one hands its duty to a sleeper. One that was
  /// `notified` for it wakes two, so that a burst reaches all sleepers in as many steps as its logarithm.
  /// `any_work()`: could there be more? Returns true if no thief is left: requests that come, or are there,
  /// have to wait until a worker looks.
  template <class Look>
  bool found_work(Look&& any_work, bool notified) noexcept {
    bool const last = thieves_.fetch_sub(1, std::memory_order_relaxed) == 1;  // relaxed: the fence orders it (S2)
    if (!last && !(notified && config_.wakes_on_push)) return false;
    if (config_.keeps_a_thief) {
      notifier_.notify_one(true);
      Env::fence(std::memory_order_seq_cst);  // S2
    } else {
      Env::fence(std::memory_order_seq_cst);  // S2
      if (config_.wakes_on_push && any_waiting() && any_work()) {
        notify_any(true);
        if (notified) notify_any(true);
      }
    }
    return !any_thief();
  }

  /// A worker has pushed a task to its own deque, which any worker may take.
  void pushed() noexcept {
    if (config_.wakes_on_push) {
      Env::light_fence();  // S1
      if (any_waiting_or_lent()) [[unlikely]]
        wake_unless_searching(true);
    }
  }
  /// There is something new that only this gate's workers may take.
  void pushed_here() noexcept {
    if (config_.wakes_on_push) {
      Env::light_fence();  // S1
      if (notifier_.maybe_waiting_or_lent()) [[unlikely]] {
        Env::fence(std::memory_order_seq_cst);                                          // S2
        if (thieves_.load(std::memory_order_relaxed) == 0) notifier_.notify_one(true);  // relaxed: S2
      }
    }
  }

  /// The same from any thread: also where no worker is active that would keep a thief awake.
  void submitted_here() noexcept {
    if (config_.wakes_on_push) {
      pushed_here();
    } else if (!config_.never_sleeps) {
      notifier_.notify_one();
    }
  }

  /// A task has entered the injection queue (Algorithm 1, line 6). False if all workers are busy: there is no
  /// thief, and none was there to be woken. `goes_on`: see event_count::notify_one.
  bool submitted(bool goes_on = false) noexcept {
    if (config_.wakes_on_push) return wake_unless_searching(goes_on);
    Env::fence(std::memory_order_seq_cst);  // S2
    if (config_.never_sleeps) return any_thief();
    return notify_any(goes_on) || any_thief();
  }

  /// A thief that has found nothing tries to sleep (Algorithm 5, lines 10 to 33). `any_work()`: is there a task in
  /// any place that this worker may take from, or has the executor been stopped? It is asked after the announcement.
  /// `asleep()` and `awake()` are called around the sleep, if it comes to that.
  template <class Look, class Asleep, class Awake>
  idle_outcome try_sleep(std::size_t me, Look&& any_work, Asleep&& asleep, Awake&& awake) noexcept {
    return try_sleep(
        me, any_work, asleep, awake, [] { return 0; }, [](auto&&) {});
  }
  /// As above. `limit()`, asked right before the sleep, and `idle`: see event_count::commit_wait.
  template <class Look, class Asleep, class Awake, class Limit, class Idle>
  idle_outcome try_sleep(std::size_t me, Look&& any_work, Asleep&& asleep, Awake&& awake, Limit&& limit,
                         Idle&& idle) noexcept {
    std::uint32_t const calls = notifier_.prepare_wait();
    bool const last = thieves_.fetch_sub(1, std::memory_order_relaxed) == 1;  // relaxed: the fence orders it
    if (config_.wakes_on_push) {
      Env::heavy_fence();  // S1, and S2
    } else {
      Env::fence(std::memory_order_seq_cst);  // S3
    }
    bool stay = any_work();
    if (config_.keeps_a_thief) {
      stay = stay || (last && active_count_->load(std::memory_order_relaxed) != 0);  // relaxed: S3
    }
    if (stay) {
      notifier_.cancel_wait();
      start_stealing();
      return idle_outcome::search;
    }
    asleep();
    notifier_.commit_wait(me, calls, limit(), idle);
    awake();
    return idle_outcome::slept;
  }

  bool never_sleeps() const noexcept { return config_.never_sleeps; }
  /// Do workers sleep, and none searches? A hint.
  bool would_wake() const noexcept { return any_waiting() && !any_thief(); }

  /// Wakes one more sleeper (BWS: a thief does it for a busy worker).
  void wake_one() noexcept { notify_any(true); }

  /// Takes a sleeper of this gate: event_count::lend().
  std::size_t lend() noexcept { return notifier_.lend(); }
  /// Puts it back. `any_work()`: as in try_sleep(), for that sleeper. The last thief may have looked for it in vain.
  template <class Look>
  void put_back(std::size_t lent, Look&& any_work) noexcept {
    notifier_.put_back(lent);
    if (any_work()) {
      wake_here();
    } else if (config_.keeps_a_thief && !any_thief() && active_count() != 0) {
      notifier_.notify_one();  // S3, found_work
    }
  }
  /// A worker that is in no list is without a thread from now on, whatever it has left. It has called set_inactive(), so
  /// the last thief may have gone to sleep beside a task that no push has told of.
  template <class Look>
  void leave(Look&& any_work) noexcept {
    if (config_.keeps_a_thief && any_work()) wake_here();
  }

  /// Wakes this worker of the gate: there is something that only it may take. True if it slept.
  bool wake(std::size_t which) noexcept { return notifier_.notify(which); }
  /// There is something for this worker, which another one of the gate may take if this one is awake, and so may be busy.
  void wake_for(std::size_t which) noexcept {
    if (!wake(which)) submitted_here();
  }
  /// Wakes all workers of this gate.
  void wake_here() noexcept { notifier_.notify_all(); }

  /// The executor stops: all sleepers must see it.
  void wake_all() noexcept {
    idle_gate* g = this;
    do {
      g->notifier_.notify_all();
      g = g->next_;
    } while (g != this);
  }

  std::uint32_t thieves() const noexcept { return thieves_.load(std::memory_order_relaxed); }  // relaxed: for printing
  std::uint32_t active_count() const noexcept {
    return active_count_->load(std::memory_order_relaxed);  // relaxed: for printing
  }
  event_count<Env> const& notifier() const noexcept { return notifier_; }

 private:
  bool any_waiting_or_lent() const noexcept {
    return any_gate([](idle_gate const& g) { return g.notifier_.maybe_waiting_or_lent(); });
  }
  bool any_waiting() const noexcept {
    return any_gate([](idle_gate const& g) { return g.notifier_.maybe_waiting(); });
  }
  bool any_thief() const noexcept {
    return any_gate([](idle_gate const& g) { return g.thieves_.load(std::memory_order_relaxed) != 0; });  // relaxed: S2
  }
  /// Does it hold for a gate of the ring? This gate is asked first.
  template <class Test>
  bool any_gate(Test test) const noexcept {
    idle_gate const* g = this;
    do {
      if (test(*g)) return true;
      g = g->next_;
    } while (g != this);
    return false;
  }

  /// This gate's workers first. After a fence. False if none waits.
  bool notify_any(bool goes_on) noexcept {
    idle_gate* g = this;
    do {
      if (g->notifier_.maybe_waiting() && g->notifier_.notify_one(goes_on)) return true;
      g = g->next_;
    } while (g != this);
    return false;
  }

  /// False if no worker searches and none waits.
  HEIST_NOINLINE bool wake_unless_searching(bool goes_on) noexcept {
    Env::fence(std::memory_order_seq_cst);  // S2
    if (any_thief()) return true;
    return notify_any(goes_on);
  }

  event_count<Env> notifier_;
  idle_config const config_;
  idle_gate* next_ = this;                    ///< set before the workers start
  count* active_count_ = &own_active_count_;  ///< as above
  alignas(cache_line_size) count thieves_{0};
  count own_active_count_{0};
};

}  // namespace heist::detail
