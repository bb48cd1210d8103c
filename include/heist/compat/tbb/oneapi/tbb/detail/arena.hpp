// Arenas: sets of workers. Each is a heist::executor; the program's threads work in it while they wait.
#pragma once

#include <algorithm>  // clamp, max
#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <map>
#include <memory>  // make_unique, unique_ptr
#include <mutex>
#include <optional>
#include <set>
#include <thread>   // hardware_concurrency
#include <utility>  // forward, move
#include <vector>   // erase

#include "heist/async.hpp"
#include "heist/compat/tbb/oneapi/tbb/detail/task_state.hpp"
#include "heist/executor.hpp"
#include "heist/fork_join.hpp"
#include "heist/thread_limit.hpp"

#if !defined(HEIST_COMPAT_POLICY)
#define HEIST_COMPAT_POLICY heist::policy::random
#endif

namespace tbb::detail {

/// Is told of threads that begin to work in an arena.
class arena_observer {
 public:
  virtual void enters(bool is_worker) = 0;
  virtual void leaves(bool is_worker) = 0;

 protected:
  ~arena_observer() = default;
};

/// Workers for at most so many threads. Arenas are never destroyed: their workers sleep until another program's part
/// gets them.
class arena {
 public:
  using executor = heist::executor<HEIST_COMPAT_POLICY>;

  /// `has_caller`: one slot is reserved for a thread outside that calls enter().
  explicit arena(std::size_t slots, bool has_caller = true) : slots_{slots}, has_caller_{has_caller} {}
  arena(arena const&) = delete;
  arena& operator=(arena const&) = delete;

  /// How many threads it was asked to hold.
  std::size_t slots() const noexcept { return slots_; }
  bool has_caller() const noexcept { return has_caller_; }
  /// Not more than the limit at the time of the call (global_control). The first call makes the workers.
  executor& workers();

  /// Does the calling code run in this arena?
  bool is_here() const noexcept { return this_task().in == this; }

  /// Calls f() as a task of the arena, and returns when it has ended. A thread outside works meanwhile.
  template <class F>
  void enter(F&& f) {
    if (is_here()) return f();
    keep_task_state const kept;
    stay const counted{kept.state().in == nullptr && !heist::current_executor()};
    visit const here{*this};
    workers().run_here([&, group = this_task().group](heist::context) {
      greet_worker();
      run_as({this, group}, f);
    });
  }

  /// Starts f() as a task of the arena. `f` throws nothing.
  template <class F>
  void spawn(task_group_context* group, F f) {
    auto task = [this, group, f = std::move(f)]() mutable {
      greet_worker();
      run_as({this, group}, f);
    };
    if (is_here()) {
      heist::current_executor()->post(std::move(task));
    } else {
      workers().post(std::move(task));
    }
  }

  void add_observer(arena_observer& o) {
    std::lock_guard const guard{observers_lock_};
    observers_.push_back(&o);
    version_.store(next_version(), std::memory_order_release);  // release: tell_worker()
  }
  void remove_observer(arena_observer& o) {
    std::lock_guard const guard{observers_lock_};
    std::erase(observers_, &o);
    if (observers_.empty()) version_.store(0, std::memory_order_relaxed);  // relaxed: the lock
  }

 private:
  /// One of the program's own threads, which comes from no task, is in an arena.
  class stay {
   public:
    explicit stay(bool counts) noexcept : counts_{counts} {
      if (counts_) count(1);
    }
    stay(stay const&) = delete;
    stay& operator=(stay const&) = delete;
    ~stay() {
      if (counts_) count(-1);
    }

   private:
    static void count(int by) noexcept;

    bool const counts_;
  };

  /// A thread that is no worker is in the arena.
  class visit {
   public:
    explicit visit(arena& a)
        : in_{a.version_.load(std::memory_order_acquire) == 0 ? nullptr : &a} {  // acquire: as below
      if (in_ != nullptr) in_->tell([](arena_observer& o) { o.enters(false); });
    }
    visit(visit const&) = delete;
    visit& operator=(visit const&) = delete;
    ~visit() {
      if (in_ != nullptr) in_->tell([](arena_observer& o) { o.leaves(false); });
    }

   private:
    arena* const in_;
  };
  void greet_worker() {
    std::uint64_t const now = version_.load(std::memory_order_acquire);  // acquire: add_observer()
    if (now != 0) tell_worker(now);
  }
  /// Once for each thread and set of observers.
  [[gnu::noinline]] void tell_worker(std::uint64_t now) {
    static thread_local std::uint64_t told = 0;
    if (told == now) return;
    told = now;
    tell([](arena_observer& o) { o.enters(true); });
  }
  template <class F>
  void tell(F const& f) {
    std::lock_guard const guard{observers_lock_};
    for (arena_observer* const o : observers_) f(*o);
  }
  static std::uint64_t next_version() noexcept {
    static std::atomic<std::uint64_t> last{0};
    return last.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: a number that none has had
  }

  std::size_t const slots_;
  bool const has_caller_;
  std::mutex lock_;
  std::mutex observers_lock_;
  std::vector<arena_observer*> observers_;
  std::atomic<std::uint64_t> version_{0};                     // of the observers; 0: there are none
  std::map<std::size_t, std::unique_ptr<executor>> by_size_;  // a limit that changes asks for another number of workers
};

/// All arenas of the process, and what limits their workers.
class market {
 public:
  static market& instance() {
    static market* const all = new market;  // never destroyed: objects with static storage may use it
    return *all;
  }

  /// Where code works that is in no arena.
  arena& implicit() noexcept { return implicit_; }
  static std::size_t default_concurrency() noexcept {
    static std::size_t const n = std::max(1u, std::thread::hardware_concurrency());
    return n;
  }

  arena& lease(std::size_t slots, bool has_caller) {
    std::lock_guard const guard{lock_};
    auto& free = free_[{slots, has_caller}];
    if (free.empty()) {
      made_.push_back(std::make_unique<arena>(slots, has_caller));
      return *made_.back();
    }
    arena* const again = free.back();
    free.pop_back();
    return *again;
  }
  void give_back(arena& a) {
    std::lock_guard const guard{lock_};
    free_[{a.slots(), a.has_caller()}].push_back(&a);
  }

  /// The least of the values in force; nothing: no global_control is.
  std::optional<std::size_t> limit() const {
    std::lock_guard const guard{lock_};
    return limits_.empty() ? std::nullopt : std::optional{*limits_.begin()};
  }
  void add_limit(std::size_t n) {
    std::lock_guard const guard{lock_};
    limits_.insert(n);
    set_max();
  }
  void remove_limit(std::size_t n) {
    std::lock_guard const guard{lock_};
    limits_.erase(limits_.find(n));
    set_max();
  }
  /// One more of the program's own threads is in an arena, or one less.
  void count_outside(int by) noexcept {
    int const before = outside_.fetch_add(by, std::memory_order_relaxed);  // relaxed: the lock orders what follows
    if (before + (by < 0 ? by : 0) < 1) return;
    std::lock_guard const guard{lock_};
    set_max();
  }
  /// The limit of all arenas together.
  heist::thread_limit& threads() noexcept { return threads_; }

 private:
  market() : implicit_{default_concurrency()} {}

  /// Called under the lock, after each change of limits_ and outside_. So the last call sees all changes.
  void set_max() noexcept {
    if (!limits_.empty()) return threads_.set_max(*limits_.begin());
    // As in oneTBB: one worker less than cores, but at least one, and the program's own threads beside them.
    std::size_t const outside =
        static_cast<std::size_t>(std::max(outside_.load(std::memory_order_relaxed), 1));  // relaxed: as above
    threads_.set_max(own_workers() + outside);
  }

  static std::size_t own_workers() noexcept { return std::max<std::size_t>(default_concurrency() - 1, 1); }

  heist::thread_limit threads_{own_workers() + 1};
  std::atomic<int> outside_{0};
  mutable std::mutex lock_;
  std::multiset<std::size_t> limits_;
  std::map<std::pair<std::size_t, bool>, std::vector<arena*>> free_;  // by slots and has_caller
  std::vector<std::unique_ptr<arena>> made_;
  arena implicit_;
};

inline void arena::stay::count(int by) noexcept {
  market::instance().count_outside(by);
}

inline arena::executor& arena::workers() {
  std::size_t const most = market::instance().limit().value_or(slots_);
  std::size_t const wanted = std::clamp<std::size_t>(slots_, 1, std::max<std::size_t>(most, 1));
  std::lock_guard const guard{lock_};
  auto& found = by_size_[wanted];
  if (!found)
    found = std::make_unique<executor>(
        heist::options{.workers = wanted, .limit = &market::instance().threads(), .caller_is_worker = has_caller_});
  return *found;
}

/// Where the calling code works.
inline arena& current_arena() noexcept {
  arena* const here = this_task().in;
  return here != nullptr ? *here : market::instance().implicit();
}

/// Calls f() and g(), in parallel where a worker is free. Both belong to the caller's arena and group, and throw nothing.
template <class F, class G>
void fork(F&& f, G&& g) {
  keep_task_state const kept;
  heist::fork_join([&] { run_as(kept.state(), f); }, [&] { run_as(kept.state(), g); });
}

}  // namespace tbb::detail
