// How much of something has not ended, and a wait for its end.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>  // size_t
#include <cstdint>
#include <memory>  // unique_ptr
#include <mutex>
#include <new>  // nothrow
#include <optional>
#include <thread>  // sleep_for

#include "heist/compat/tbb/oneapi/tbb/detail/arena.hpp"
#include "heist/sync.hpp"

namespace tbb::detail {

/// How many tasks of something have not ended. May be destroyed as soon as a wait() has returned. Threads: any.
///
/// After the first tasks each worker counts in a part of its own. A part counts once in open_ while it is not zero, so
/// workers that start and end tasks do not take one cache line from each other. The thread that makes a part 1 adds it to
/// open_. Until then all others count in open_ instead of this part. So is_zero() misses no task.
class work_count {
 public:
  work_count() = default;
  work_count(work_count const&) = delete;
  work_count& operator=(work_count const&) = delete;
  ~work_count() { delete[] parts_.load(std::memory_order_relaxed); }  // relaxed: nobody else has it any more

  class alignas(64) part {
    friend work_count;
    std::atomic<std::size_t> open{0};
  };

  /// The caller must be counted itself, or call this before wait(). The result is for remove().
  [[nodiscard]] part* add() noexcept {
    part* const own = own_part();
    if (own != nullptr && try_add(*own)) return own;
    add_to_all();
    return nullptr;
  }
  /// Counts in open_ in any case. remove() has no argument then.
  void add_to_all() noexcept {
    open_.fetch_add(one_added, std::memory_order_relaxed);  // relaxed: the caller's own count is there
  }
  void remove(part* counted = nullptr) {
    // acq_rel: the last one passes on what the others have done
    if (counted != nullptr && counted->open.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    std::uint64_t n = open_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    while ((n & all_open) > 1) {
      // acq_rel: as above
      if (open_.compare_exchange_weak(n, n - 1, std::memory_order_acq_rel, std::memory_order_relaxed)) return;
    }
    // The last one holds the lock until it is done with the count: a wait() returns under the lock, after it.
    std::lock_guard const guard{lock_};
    if ((open_.fetch_sub(1, std::memory_order_acq_rel) & all_open) == 1) none_.notify_all();  // acq_rel: as above
  }
  bool is_zero() const {
    std::lock_guard const guard{lock_};
    return has_ended();
  }
  /// A task parks. A thread outside works in `on`. Nothing ends the wait early: what is counted may use the caller's data.
  void wait(arena& on) {
    if (is_zero()) return;
    on.enter([this] {
      keep_task_state const kept;
      try {
        std::unique_lock guard{lock_};
        none_.wait(guard, [this] { return has_ended(); });
        return;
      } catch (heist::stopped_error const&) {  // of a task of heist's that has called the layer
      } catch (heist::error const&) {          // it has no stack left
      }
      heist::fork_join([this](heist::context here) { here.blocking([this] { sleep_until_zero(); }); });
    });
  }

 private:
  static constexpr std::uint64_t all_open = 0xffff'ffff, one_added = 0x1'0000'0001;
  static constexpr std::uint64_t few = 64;  // tasks that are counted in open_ first: a small group needs no parts
  static constexpr std::size_t is_new = ~(~std::size_t{0} >> 1);  // of a part that does not count in open_ yet

  bool has_ended() const noexcept {
    return (open_.load(std::memory_order_acquire) & all_open) == 0;  // acquire: remove()
  }
  part* own_part() noexcept {
    part* parts = parts_.load(std::memory_order_acquire);  // acquire: the exchange below
    if (parts == nullptr && open_.load(std::memory_order_relaxed) >> 32 < few) return nullptr;  // relaxed: a hint
    std::optional<std::size_t> const worker = heist::current_worker();
    if (!worker) return nullptr;
    if (parts == nullptr) {
      std::unique_ptr<part[]> made{new (std::nothrow) part[most_parts]};
      if (made == nullptr) return nullptr;
      // acq_rel: another one's parts are seen as it has made them, and these as made here
      if (parts_.compare_exchange_strong(parts, made.get(), std::memory_order_acq_rel)) parts = made.release();
    }
    return &parts[*worker % most_parts];
  }
  /// False: another thread is making this part 1. Executors that take turns in an arena can share a part.
  bool try_add(part& p) noexcept {
    std::size_t n = p.open.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    do {
      if ((n & is_new) != 0) return false;
      // relaxed: remove() orders what the tasks have done
    } while (!p.open.compare_exchange_weak(n, n == 0 ? is_new | 1 : n + 1, std::memory_order_relaxed));
    if (n == 0) {
      open_.fetch_add(1, std::memory_order_relaxed);  // relaxed: as in add()
      p.open.fetch_sub(is_new,
                       std::memory_order_acq_rel);  // release: whoever makes it 0 removes it from open_ afterwards
    }
    return true;
  }
  void sleep_until_zero() const {
    while (!is_zero()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }

  static constexpr std::size_t most_parts = 16;

  mutable std::mutex lock_;
  std::atomic<std::uint64_t> open_{
      0};  // above 32 bits: how many were added; below: how many of these, and of parts, are open
  std::atomic<part*> parts_{nullptr};
  heist::condition_variable_any none_;
};

}  // namespace tbb::detail
