// Measures the bytes that a task of a graph touches by its misses of the private cache (CATS, section 3.2, Eq. 1 for
// one task).
#pragma once

#include <cstdint>
#include <utility>  // exchange

#include "heist/core/base/config.hpp"
#include "heist/core/extension/frame_tracker.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/core/scheduler/fiber.hpp"
#include "heist/locality/history/known_task.hpp"
#include "heist/locality/history/placement_extension.hpp"

namespace heist::detail {

/// Counts while the task runs on `self`: not while it waits, nor what thieves do of it.
class task_tracker final : public frame_tracker {
 public:
  task_tracker(known_task const& of, fiber& self) noexcept
      : of_{&of}, on_{&self}, outer_{std::exchange(self.tracker, this)} {
    restart();
  }
  task_tracker(task_tracker const&) = delete;
  task_tracker& operator=(task_tracker const&) = delete;
  ~task_tracker() { on_->tracker = outer_; }

  bool stop() noexcept override {
    if (!std::exchange(running_, false)) return false;
    // Where a frame above has been measured, and waited, this one has not been told.
    if (on_->worker == counts_) {
      misses_ += placement_of(on_->scheduler).read_misses(*counts_) - start_time_;
    } else {
      lost_ = true;
    }
    return true;
  }
  void restart() noexcept override {
    running_ = true;
    counts_ = on_->worker;
    start_time_ = placement_of(on_->scheduler).read_misses(*counts_);
  }
  void const* measures_task() const noexcept override { return of_; }

  /// At the end of `done`, on its fiber: sets the task's bytes to the counted ones. Does nothing if the task was not
  /// counted.
  static void take(known_task& done, fiber& self) noexcept {
    if (self.tracker == nullptr || self.tracker->measures_task() != &done) return;
    auto& counted = static_cast<task_tracker&>(*self.tracker);
    counted.stop();
    if (counted.lost_ || counted.misses_ == 0) return;
    std::uint64_t const line = self.scheduler.where.machine().line_bytes;
    os_env::store_shared(done.past.bytes, counted.misses_ * (line != 0 ? line : 64));
    os_env::store_shared(done.counted, true);
  }

 private:
  known_task const* of_;
  fiber* on_;
  frame_tracker* outer_;  ///< of a frame below on the fiber
  worker* counts_ = nullptr;
  std::uint64_t start_time_ = 0, misses_ = 0;
  bool running_ = false, lost_ = false;
};

}  // namespace heist::detail
