// An observer that divides the workers' time into the application, steals, the search for work, and sleep. It also
// measures the time inside joins that wait (Wool, section 5.3 and Fig. 6).
#pragma once

#include <algorithm>  // max
#include <array>
#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <memory>  // unique_ptr
#include <string>
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/observe/observer.hpp"

// Edges
//   E1  change: version.store(odd, relaxed), fields.store(release) -> read: fields.load(acquire), version.load(relaxed)
//       a reader that has seen a part of a change sees that there is one
//   E2  change: version.store(even, release) -> read: version.load(acquire)   all of a change

namespace heist {

/// How a worker has spent some time, in ticks. Each tick is in exactly one field.
struct time_shares {
  std::uint64_t application = 0;          ///< tasks, and what the library does for them: forks, joins, their own queue
  std::uint64_t steal = 0;                ///< attempts that were successful, until the task starts
  std::uint64_t search = 0;               ///< everything else that is not sleep
  std::uint64_t application_in_join = 0;  ///< tasks on top of a join that waits: leap-frogging
  std::uint64_t steal_in_join = 0;
  std::uint64_t search_in_join = 0;  ///< a join that waits and does nothing
  std::uint64_t asleep = 0;
  std::uint64_t wall = 0;  ///< how long the stretch was; the sum of the others

  /// All but sleep.
  std::uint64_t awake() const noexcept;
  time_shares& operator+=(time_shares const& other) noexcept { return combine(other, 1); }
  time_shares& operator-=(time_shares const& other) noexcept { return combine(other, ~std::uint64_t{0}); }
  friend bool operator==(time_shares const&, time_shares const&) = default;

 private:
  time_shares& combine(time_shares const& other, std::uint64_t factor) noexcept;
};

/// The shares of all workers, since the executor started or, as the difference of two reports, between them.
struct time_report {
  std::vector<time_shares> workers;

  time_shares total() const noexcept;
  /// The difference to `earlier`, a report of the same observer.
  time_report operator-(time_report const& earlier) const;

  /// A table with a line per worker and one for their sum: percent of the time, and its length in ticks. With
  /// `seconds`, the length of the whole, it has seconds instead of ticks.
  std::string text(double seconds = 0) const;
};

/// Adds up the time of an executor's workers. `Clock`: ticks() gives the time.
///
/// A worker's clock starts with the executor, as search. A wait that parks (futures, and joins by default) adds
/// nothing to the times inside joins: the worker continues with other work.
///
/// Threads   members of an observer and a time_observer: each worker writes its own lines. report() by any thread at
///           any time, but not while start() runs: what each worker was doing lasts until that moment.
/// Promises  of each worker, and so of all, the shares add up to `wall` exactly. wall is from start() to the report.
/// Cost      a look at the clock for each event that time_observer names and each sleep, park and wake; none for a
///           task of the worker's own and for forks and joins in place.
template <class Clock = os_env>
class basic_time_breakdown : public null_observer {
 public:
  static constexpr bool observes = true;

  /// Starts again from zero.
  void start(std::size_t workers) {
    lines_ = std::make_unique<line[]>(workers);
    workers_ = workers;
    start_ = Clock::ticks();
    for (std::size_t w = 0; w < workers; ++w) {
      lines_[w].since.store(start_, std::memory_order_relaxed);  // relaxed: starting the threads publishes it
    }
  }

  void search_begin(std::size_t worker, std::uint32_t joins) noexcept {
    lines_[worker].change(joins != 0 ? searching_in_join : searching);
  }
  void attempt(std::size_t worker) noexcept { lines_[worker].change(lines_[worker].current()); }
  void success(std::size_t worker) noexcept {
    line& l = lines_[worker];
    l.rename(l.current() == searching_in_join ? stealing_in_join : stealing);
  }
  void work_begin(std::size_t worker, std::uint32_t joins) noexcept {
    lines_[worker].change(joins != 0 ? working_in_join : working);
  }
  void sleep(std::size_t worker) noexcept { lines_[worker].change(sleeping); }
  void wake(std::size_t worker) noexcept { lines_[worker].change(searching); }
  void park(std::size_t worker, void const* /*fiber*/) noexcept { lines_[worker].change(working); }

  time_report report() const {
    time_report all;
    all.workers.reserve(workers_);
    for (std::size_t w = 0; w < workers_; ++w) all.workers.push_back(lines_[w].read(start_));
    return all;
  }

 private:
  enum activity : std::uint32_t {
    working,
    stealing,
    searching,
    working_in_join,
    stealing_in_join,
    searching_in_join,
    sleeping,
    activities
  };
  template <class T>
  using atomic = os_env::atomic<T>;

  /// Written by one worker, read by all threads.
  struct alignas(cache_line_size) line {
    atomic<std::uint64_t> version{0};  ///< odd during a change
    atomic<std::uint64_t> since{0};    ///< start of the present activity; `totals` holds the time before
    atomic<std::uint32_t> what{searching};
    std::array<atomic<std::uint64_t>, activities> totals{};

    activity current() const noexcept {
      return static_cast<activity>(what.load(std::memory_order_relaxed));  // relaxed: its own
    }

    /// From now on it does `next`.
    void change(activity next) noexcept {
      std::uint64_t const before = since.load(std::memory_order_relaxed);  // relaxed: its own
      // The clock of the thread that called start() may be some ticks ahead.
      std::uint64_t const now = std::max(Clock::ticks(), before);
      auto& past = totals[current()];
      std::uint64_t const sum = past.load(std::memory_order_relaxed) + (now - before);  // relaxed: its own
      std::uint64_t const v = version.load(std::memory_order_relaxed);                  // relaxed: its own
      version.store(v + 1, std::memory_order_relaxed);                                  // E1
      past.store(sum, std::memory_order_release);                                       // E1
      since.store(now, std::memory_order_release);                                      // E1
      what.store(next, std::memory_order_release);                                      // E1
      version.store(v + 2, std::memory_order_release);                                  // E2
    }
    /// Sets the activity since the last change to `now_known`.
    void rename(activity now_known) noexcept {
      what.store(now_known, std::memory_order_release);  // E1; until then readers add the stretch to the other
    }

    time_shares read(std::uint64_t start) const noexcept {
      for (;;) {
        std::uint64_t const before = version.load(std::memory_order_acquire);  // E2
        std::array<std::uint64_t, activities> s;
        for (std::size_t i = 0; i < activities; ++i) s[i] = totals[i].load(std::memory_order_acquire);  // E1
        std::uint64_t const present_since = since.load(std::memory_order_acquire);                      // E1
        std::uint32_t const present = what.load(std::memory_order_acquire);                             // E1
        std::uint64_t const now = std::max(Clock::ticks(), present_since);
        if (before % 2 == 0 && version.load(std::memory_order_relaxed) == before) {  // E1
          s[present] += now - present_since;
          return {s[working],          s[stealing],          s[searching], s[working_in_join],
                  s[stealing_in_join], s[searching_in_join], s[sleeping],  now - start};
        }
        os_env::relax();
      }
    }
  };

  std::unique_ptr<line[]> lines_;
  std::size_t workers_ = 0;
  std::uint64_t start_ = 0;
};

/// Of real time.
using time_breakdown = basic_time_breakdown<>;

static_assert(time_observer<time_breakdown>);

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/tools/observe/time_breakdown.ipp"
#endif
