// Inter-squad tasks, and the frames whose forks make them (CAB, Algorithm II (a); CATS, section 3.4).
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/fork/erased_child.hpp"
#include "heist/core/sync/completion.hpp"
#include "heist/core/sync/interrupt.hpp"
#include "heist/locality/policy/path.hpp"
#include "heist/locality/policy/profile.hpp"
#include "heist/locality/squads/region_run.hpp"
#include "heist/locality/squads/squad_extension.hpp"

namespace heist::detail {

// Marks of frame positions in the tiers, besides slots. position_mark::child_first marks a frame of the intra-squad
// tier, whose forks stay in its squad.
inline constexpr position_mark inter_mark = position_mark::of_extension;         ///< the rest is an inter_frame
inline constexpr position_mark profiled_mark = position_mark::of_extension_too;  ///< the rest is a profile_frame

/// A frame whose forks make inter-squad tasks: the paper's `level` and its place in the tree. It lies in the frame that
/// calls the task.
struct inter_frame {
  region_run* run;
  fork_slot* position;    ///< where the frame forks otherwise
  squad_task* task;       ///< what runs here
  std::uint64_t path;     ///< a hash of the spawn indices from the region's body to here
  std::uint32_t level;    ///< the region's body is 1
  std::uint32_t entry;    ///< in the profile
  std::uint32_t spawned;  ///< children so far
};

/// The children that a frame waits for: the paper's `inter_counter`.
struct inter_join {
  explicit inter_join(std::size_t children) noexcept : outstanding{static_cast<std::uint32_t>(children)} {}

  void child_ended() noexcept;
  /// Suspends the frame of `frame` until all have ended; its squad is free meanwhile.
  void wait(fiber& self, inter_frame& frame);

  os_env::atomic<std::uint32_t> outstanding;
  completion all_ended;
};

/// An inter-squad task: where it is in the tree.
class inter_task : public pooled_runnable {
 public:
  inter_task(run_function function, inter_frame const& parent, std::uint32_t index,
             interrupt_state const* outer) noexcept;
  /// The region's body.
  inter_task(run_function function, region_run& of, interrupt_state const* outer) noexcept;

  /// To the squad that ran it last, or `fallback`.
  void start(squad& fallback) noexcept { start_in(run_->squad_for(path_, fallback), false); }
  /// The same in two steps, for all children of a fork: those that other squads than `own` ran last, then the others.
  void start_elsewhere(squad& own) noexcept {
    remembered_ = &run_->squad_for(path_, own);
    if (remembered_ != &own) start_in(*remembered_, false);
  }
  void start_here(squad& own) noexcept {
    if (remembered_ == &own) start_in(own, false);
  }
  void start_pinned(squad& to) noexcept { start_in(to, true); }

  /// True if its forks are intra-squad tasks: the paper's leaf inter-socket tasks.
  bool is_leaf() const noexcept;

 protected:
  /// Whatever its level: its forks are intra-squad tasks.
  void set_leaf() noexcept { leaf_ = true; }

  /// On the head of a squad that has just taken it, or in its parent's place if there is no memory for a stack.
  /// `call(fiber, position)` must not throw.
  template <class Call>
  void run_on(fiber& self, bool in_place, Call&& call) noexcept;

 private:
  void start_in(squad& to, bool pinned) noexcept;
  void place(interrupt_state const* outer) noexcept;

  region_run* run_;
  std::uint64_t path_;
  std::uint32_t level_;
  std::uint32_t entry_ = region_profile::no_entry;
  bool leaf_ = false;
  squad* remembered_ = nullptr;  ///< where the region knows that it ran last
  squad_task task_;
  interrupt_state interrupt_;
};

/// One child of an inter-squad fork, or a region's body; in the frame that waits for it.
class inter_child : public inter_task {
 public:
  inter_child(erased_child& child, inter_frame const& parent, std::uint32_t index, interrupt_state const* outer,
              inter_join& join) noexcept
      : inter_task{&run, parent, index, outer}, child_{&child}, join_{&join} {}
  inter_child(erased_child& child, region_run& of, interrupt_state const* outer, inter_join& join) noexcept
      : inter_task{&run, of, outer}, child_{&child}, join_{&join} {}

  void run_in_place(fiber& self) noexcept { call(self, true); }
  /// On the head of a squad, which is busy with it.
  void run_taken(fiber& self) noexcept { call(self, false); }

 private:
  static runnable* run(runnable& task, fiber& self);
  void call(fiber& self, bool in_place) noexcept;

  erased_child* child_;
  inter_join* join_;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/squads/inter_task.ipp"
#endif
