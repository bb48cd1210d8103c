// An executor's part of the extension in which steals are noted and followed.
#pragma once

#include <cstddef>  // size_t
#include <memory>   // unique_ptr
#include <span>

#include "heist/core/base/config.hpp"
#include "heist/core/fork/fork_extension.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/locality/history/placement_extension.hpp"

namespace heist::detail {

class replay_extension final : public executor_extension,
                               public fork_extension,
                               public placement_extension,
                               public steal_extension {
 public:
  replay_extension() noexcept {
    steals = this;
    graphs = this;
    forks = this;
  }

  /// A region's run records, or follows, the worker of each task.
  HEIST_BODY bool may_suspend(fiber const& f) const noexcept override;
  HEIST_BODY bool may_leave_worker(fiber const& f) const noexcept override;
  HEIST_BODY frame_note note_of(caller_frame const& frame) const noexcept override;
  HEIST_BODY void stolen(frame_note const& note, worker const& thief, worker const& victim) const noexcept override;

  HEIST_BODY place_to_fork way_of_fork(fiber& of, fork_slot* position, bool divide) noexcept override;
  HEIST_BODY void fork(fiber& of, fork_slot* position, std::span<erased_child* const> children) override;
  HEIST_BODY fork_way way_of_scope(fiber& self, fork_slot* position) noexcept override;
  HEIST_BODY unique_ptr<extension_scope> make_scope(scope_base& of, bool remote) override;
  HEIST_BODY bool may_queue(fiber const& here, fork_way way) const noexcept override;
  HEIST_BODY unique_ptr<region_visit> enter(region& r, fiber& self, fork_slot* position) override;
  HEIST_BODY bool has_history(fork_slot* position) const noexcept override;
  HEIST_BODY void assign_continuation(fiber& self, fork_slot* position, std::size_t worker) override;
  HEIST_BODY bool may_be_stolen(fork_slot* position) const noexcept override;
  task_affinity affinity_of_tasks() const noexcept override { return task_affinity::workers; }
  HEIST_BODY unique_ptr<graph_recall> make_recall() const override;
};

/// Must what runs on `f` be resumed on the worker that it waited on? Where the policy records.
inline bool must_not_migrate(fiber const& f) noexcept {
  return f.rule_of_task() != nullptr;
}

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/replay/replay_extension.ipp"
#endif
