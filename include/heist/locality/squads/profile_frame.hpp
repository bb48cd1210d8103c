// Frames of a region's first run under CATS, which are measured.
#pragma once

#include <cstdint>
#include <utility>  // exchange

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/fork/erased_child.hpp"
#include "heist/locality/squads/inter_task.hpp"
#include "heist/locality/squads/region_run.hpp"

namespace heist::detail {

/// Counts the frame's own work, between its forks.
class profile_frame final : public frame_tracker {
 public:
  profile_frame(region_run& run, std::uint32_t task, fiber& self, fork_slot* position) noexcept
      : run_{&run}, on_{&self}, position_{position}, outer_{std::exchange(self.tracker, this)}, task_{task} {
    restart();
  }
  profile_frame(profile_frame const&) = delete;
  profile_frame& operator=(profile_frame const&) = delete;
  ~profile_frame() {
    stop();
    on_->tracker = outer_;
    run_->recorded(task_, own_, *on_->worker);
  }

  /// Counters are of cores, so both read those of the worker that the frame is on then.
  HEIST_BODY bool stop() noexcept override;
  HEIST_BODY void restart() noexcept override;
  void declare(std::uint64_t bytes) noexcept { own_.declared_bytes = add_saturated(own_.declared_bytes, bytes); }

  region_run& run() const noexcept { return *run_; }
  fork_slot* position() const noexcept { return position_; }
  std::uint32_t task() const noexcept { return task_; }
  std::uint32_t spawn(std::uint32_t children) noexcept { return std::exchange(spawned_, spawned_ + children); }

 private:
  region_run* run_;
  fiber* on_;
  fork_slot* position_;
  frame_tracker* outer_;  ///< the tracker of the frame below on the fiber
  bool running_ = false;
  std::uint32_t task_;
  std::uint32_t spawned_ = 0;
  task_counts own_;
  counter_values counters_;
  std::uint64_t ticks_ = 0;
};

/// Calls child number `index` of `parent`, measured. `call(fiber, position)` must not throw.
template <class Call>
void call_measured(region_run& run, std::uint32_t parent, std::uint32_t index, void const* identity, fiber& self,
                   fork_slot* position, Call&& call) {
  std::uint32_t const task = run.record(parent, index, identity);
  if (task == region_run::not_recorded) return call(self, position);
  profile_frame frame{run, task, self, position};
  call(self, context_access::marked(&frame, profiled_mark));
}

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/squads/profile_frame.ipp"
#endif
