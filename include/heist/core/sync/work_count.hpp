// How much work is under way: counted where it begins and where it ends, added up only when one waits for the end.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/sync/completion.hpp"

namespace heist::detail {

// Edges (proof: README.md, "What is counted, and when")
//   W1  ended: lane.ended.store(release) -> over: lane.ended.load(acquire)   the unit's effects, and that it had begun
//   W2  ended: light_fence               <-> wait: heavy_fence               the worker sees the waiter, or the waiter
//                                                                            sees the end
//   W3  ended: fence(seq_cst)            <-> ended: fence(seq_cst)           of two workers that end the last two
//                                                                            units, one sees the other's
//   W4  ended: fence(seq_cst)            <-> turn: fence(seq_cst)            the worker sees the wave that is awaited,
//                                                                            or the thread that changes it sees the end
//   W5  leave: started.fetch_sub(release)  -> wait_for_visitors: started.load(acquire)   the visitor's last touch
//   W6  enter_open: light_fence          <-> close: then wait: heavy_fence   the visitor sees that it is closed, or
//                                                                            its unit is seen and waited for

/// Units of work that workers, each in its own lane, and threads outside begin, and that workers end.
///
/// Every unit belongs to one of two waves, and so do the units that it begins; or to both, if its wave is not known.
/// New units join the newer wave. A waiter has to see each wave over once. The older one comes first: it may take a
/// while, but no new unit joins it. Then the two change places, so that units which begin from then on are not waited
/// for.
///
/// Threads  add_work() and ended() of a lane by its worker; everything else by any thread.
/// Cost     began and ended: plain stores to a line of one's own. enter and leave: one locked operation each.
template <class Env = os_env>
class work_count {
  template <class T>
  using atomic = typename Env::template atomic<T>;

 public:
  /// The wave of a unit that belongs to both.
  static constexpr unsigned both = 2;

  /// Lives until `over` is complete.
  struct waiter {
    basic_completion<Env> over;
    bool needs[2]{true, true};  ///< waves that have not been over since it came
    waiter* next = nullptr;
  };

  explicit work_count(std::size_t workers) : lanes_{detail::make_unique<lane[]>(workers)}, workers_{workers} {}

  /// The wave of a unit that begins now and was not begun by another unit.
  unsigned current_wave() const noexcept { return wave_.load(std::memory_order_relaxed); }  // relaxed: W4, or the lock

  /// A worker begins a unit. To be called before any thread can end it, and before the unit ends that begins it. Its
  /// wave is that unit's, or both.
  void add_work(std::size_t worker, unsigned wave) noexcept {
    lane& mine = lanes_[worker];
    if (wave != 1) one_more(mine.start_time[0]);
    if (wave != 0) one_more(mine.start_time[1]);
  }
  /// A unit has ended: counts it for ended().
  static void count_end(std::uint64_t (&ended)[2], unsigned wave) noexcept {
    if (wave != 1) ++ended[0];
    if (wave != 0) ++ended[1];
  }

  /// A worker tells how many units of each wave it has ended since it started. Returns after all waiters that it may
  /// concern know.
  void ended(std::size_t worker, std::uint64_t first, std::uint64_t second) noexcept {
    lane& mine = lanes_[worker];
    bool const news = tell(mine.ended[0], first);
    if (!tell(mine.ended[1], second) && !news) return;
    Env::light_fence();  // W2
    if (waiters_.load(std::memory_order_relaxed) == 0) [[likely]]
      return;                               // relaxed: W2
    Env::fence(std::memory_order_seq_cst);  // W3, W4
    if (over(current_wave() ^ 1)) turn();
  }
  /// The last counts given to ended(); units of both waves count twice.
  std::uint64_t ended_snapshot(std::size_t worker) const noexcept {
    lane const& of = lanes_[worker];
    // relaxed: for printing
    return of.ended[0].load(std::memory_order_relaxed) + of.ended[1].load(std::memory_order_relaxed);
  }

  /// A thread outside begins `units`, 0 or 1, of the wave, and comes in: between enter() and leave() it may touch the
  /// executor. The executor is not destroyed before the thread has left, even if the unit ends.
  void enter(std::uint64_t units, unsigned wave) noexcept {
    // relaxed: what hands the unit over publishes it
    outside_[wave].started.fetch_add(one_visitor + units, std::memory_order_relaxed);
  }
  void leave(unsigned wave) noexcept {
    outside_[wave].started.fetch_sub(one_visitor, std::memory_order_release);  // W5
  }
  /// As enter(), unless it is closed; then nothing has begun, and it returns false.
  [[nodiscard]] bool enter_open(std::uint64_t units, unsigned wave) noexcept {
    enter(units, wave);
    Env::light_fence();                                         // W6
    if (!closed_.load(std::memory_order_relaxed)) return true;  // relaxed: W6
    // A waiter has perhaps seen the unit.
    outside_[wave].started.fetch_sub(units, std::memory_order_relaxed);  // relaxed: the lock
    turn();
    leave(wave);
    return false;
  }
  /// For the destructor, before it waits for the last time: lets no visitor in any more that brings units.
  void close() noexcept { closed_.store(true, std::memory_order_relaxed); }         // relaxed: W6
  bool closed() const noexcept { return closed_.load(std::memory_order_relaxed); }  // relaxed: a hint

  /// A thread outside begins a unit that it hands over otherwise.
  void started_outside(unsigned wave) noexcept {
    outside_[wave].started.fetch_add(1, std::memory_order_relaxed);  // relaxed: as in enter()
  }

  /// False if every unit has ended. Otherwise `me.over` will be completed when the units that had begun before have
  /// ended, and the units that they began. Units that begin later are not waited for, except while there is another
  /// waiter already.
  [[nodiscard]] bool wait(waiter& me) noexcept {
    waiters_.fetch_add(1, std::memory_order_relaxed);  // relaxed: W2
    Env::heavy_fence();                                // W2
    if (all_over()) {
      waiters_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: a count
      return false;
    }
    {
      spin_guard guard{lock_};
      me.next = waiting_;
      waiting_ = &me;
    }
    turn();
    return true;
  }
  bool all_over() const noexcept { return over(0) && over(1); }
  std::uint32_t waiters() const noexcept { return waiters_.load(std::memory_order_relaxed); }  // relaxed: for printing

  /// Returns when no visitor is left; for the destructor, after which none comes in.
  void wait_for_visitors() noexcept {
    for (outside const& o : outside_) {
      while (o.started.load(std::memory_order_acquire) >= one_visitor) Env::yield();  // W5
    }
  }

 private:
  // started: 63 to 48 visitors
  //          47 to  0 units of work started outside
  static constexpr std::uint64_t one_visitor = std::uint64_t{1} << 48;
  static constexpr std::uint64_t units_mask = one_visitor - 1;

  struct alignas(cache_line_size) lane {
    atomic<std::uint64_t> start_time[2]{};
    atomic<std::uint64_t> ended[2]{};
  };
  struct alignas(cache_line_size) outside {
    atomic<std::uint64_t> started{0};
  };

  static void one_more(atomic<std::uint64_t>& n) noexcept {
    // relaxed: own count; what hands the unit over publishes it
    n.store(n.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  /// True if it is news.
  static bool tell(atomic<std::uint64_t>& n, std::uint64_t total) noexcept {
    if (n.load(std::memory_order_relaxed) == total) return false;  // relaxed: own count
    n.store(total, std::memory_order_release);                     // W1
    return true;
  }

  /// Ends first: a unit that is seen to have ended is then seen to have begun (W1), so equal sums were equal at a time.
  bool over(unsigned wave) const noexcept {
    std::uint64_t ends = 0, begins = 0;
    for (std::size_t i = 0; i < workers_; ++i) ends += lanes_[i].ended[wave].load(std::memory_order_acquire);  // W1
    for (std::size_t i = 0; i < workers_; ++i)
      begins += lanes_[i].start_time[wave].load(std::memory_order_relaxed);                         // relaxed: W1
    return ends == begins + (outside_[wave].started.load(std::memory_order_relaxed) & units_mask);  // relaxed: W1
  }

  /// Lets the waves change places as long as there are waiters and the older one is over; wakes the waiters that saw
  /// both.
  void turn() noexcept {
    waiter* notified = nullptr;
    {
      spin_guard guard{lock_};
      while (waiting_ != nullptr) {
        unsigned const older = current_wave() ^ 1;
        if (!over(older)) break;
        for (waiter** at = &waiting_; *at != nullptr;) {
          waiter& w = **at;
          w.needs[older] = false;
          if (w.needs[older ^ 1]) {
            at = &w.next;
            continue;
          }
          *at = w.next;
          w.next = notified;
          notified = &w;
        }
        if (waiting_ == nullptr) break;
        wave_.store(older, std::memory_order_relaxed);  // relaxed: the fence orders it (W4)
        Env::fence(std::memory_order_seq_cst);          // W4
      }
    }
    while (notified != nullptr) {
      waiter& w = *notified;
      notified = w.next;                                 // before it is told: then it is gone
      waiters_.fetch_sub(1, std::memory_order_relaxed);  // relaxed: a count
      w.over.complete();
    }
  }

  detail::unique_ptr<lane[]> lanes_;
  std::size_t workers_;
  outside outside_[2];
  alignas(cache_line_size) atomic<std::uint32_t> waiters_{0};
  atomic<unsigned> wave_{0};  ///< the newer one; changed under the lock
  spin_lock<Env> lock_;       // guards the rest
  waiter* waiting_ = nullptr;
  atomic<bool> closed_{false};
};

}  // namespace heist::detail
