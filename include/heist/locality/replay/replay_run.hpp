// A run that follows a steal tree: it gives the rest of each frame to a worker, in turn ("Optimizing Data Locality for
// Fork/Join Programs Using Constrained Work Stealing", SC 2014, IV.C; README.md, "Following").
#pragma once

#include <atomic>
#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/extension/resume_rule.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/core/sync/interrupt.hpp"
#include "heist/locality/policy/followed_tree.hpp"
#include "heist/locality/replay/live_count.hpp"
#include "heist/locality/replay/steal_log.hpp"

namespace heist::detail {

class replay_run;

/// A slot as a rule; without one a frame stays with the worker that it is on.
class replay_slot final : public resume_rule, public tree_slot {
 public:
  explicit replay_slot(replay_run* of = nullptr, tree_slot where = {}) noexcept : tree_slot{where}, run{of} {}

  replay_run* run;  ///< null: designated in a run that follows nothing

  HEIST_BODY void make_ready(fiber& f) noexcept override;
  /// From then on its worker may begin its next, unless the fiber is left and stays with it.
  HEIST_BODY void leaves(fiber& f, bool is_left) noexcept override;
  /// The run counts it as no longer running.
  HEIST_BODY deferred_call left(fiber& f) noexcept override;
};

/// A fiber that waits is resumed on the worker that it waited on.
class in_place_rule final : public resume_rule {
 public:
  HEIST_BODY void make_ready(fiber& f) noexcept override;
};

/// How the frames of one run use a tree.
///
/// Threads  the constructor and finish() by the task that enters the region; the rest by any worker, for frames of the
///          run that it is on.
class replay_run {
 public:
  /// `tree` and `record`, that of the run's body, outlive it. `by_hand`: frames designate.
  replay_run(core& scheduler, recorded_run& record, followed_tree<queued_runnable>& tree, bool by_hand) noexcept;
  replay_run(replay_run const&) = delete;
  replay_run& operator=(replay_run const&) = delete;

  bool strict() const noexcept { return tree_.strict(); }
  bool by_hand() const noexcept { return by_hand_; }
  /// Of frames that have no steal below, in strict runs: their forks are calls.
  frame_record& serial() noexcept { return serial_; }
  /// Of all fibers in a strict run: they stay where they are.
  interrupt_state interrupt;

  // --- by the frames ---

  /// The frame of `r` calls its child number `branch`. Returns the tree's node for it, or steal_tree::none. Nodes that
  /// the frame has passed without reaching them cannot come any more.
  std::uint32_t pass_to(followed_record& r, std::uint32_t branch) noexcept;
  /// The frame has ended.
  void pass_rest(followed_record& r) noexcept;
  /// For the child of `parent` that node `i` is for: its part of the tree.
  followed_record record_of_child(frame_record* parent, std::uint32_t branch, std::uint32_t i) noexcept;
  /// Has it steals below?
  bool has_children(std::uint32_t i) const noexcept { return tree_.has_children(i); }
  /// Where the tree says that the frame resumes after that child, or after its fork; false if it says nothing.
  replay_slot slot_of(std::uint32_t i) noexcept;
  /// The slot will not be used.
  void reject(replay_slot const& s) noexcept;

  /// The item that can resume at `s` has come.
  void give(replay_slot const& s, queued_runnable& item) noexcept;
  /// A frame that has waited for its children resumes where it is.
  void resume_in_place(worker& w, queued_runnable& item) noexcept;

  /// The frame on fiber `f` has ended, or leaves its worker: the worker that had given it the turn may begin its next
  /// item.
  void turn(fiber& f) noexcept;
  /// A fiber of a strict run has ended, or was left while it waits for children. The last look at the run.
  void one_less() noexcept;
  bool counts() const noexcept { return strict(); }

  // --- by the task that enters the region ---

  /// Before the body starts on worker `body`: the turn of all other workers.
  void begin(std::uint32_t body) noexcept;
  /// The body has ended, on the calling worker.
  void body_ended() noexcept;
  /// Returns when no thread looks at the run any more.
  void finish() noexcept;

  /// Steals of the tree that could not be made, because a frame was held fast. Those of places that the program did not
  /// come to are not counted.
  std::uint32_t not_made() const noexcept { return not_made_.load(std::memory_order_relaxed); }  // relaxed: a number
  /// Does every worker run its items in the tree's order?
  bool in_order() const noexcept { return tree_.in_order(); }
  bool order_given_up() const noexcept { return tree_.order_given_up(); }

 private:
  void turn(std::uint32_t w) noexcept;

  /// Puts it where `w` finds it. Every fiber of a strict run that can run counts in live_.
  void begin_on(std::uint32_t w, queued_runnable& item) noexcept;
  /// The function that the tree calls to begin an item.
  auto begins() noexcept {
    return [this](std::uint32_t w, queued_runnable& item) noexcept { begin_on(w, item); };
  }

  /// No frame runs, and the run has not ended: each frame waits for one that comes after it in some list. The tree is
  /// then not of this program.
  HEIST_RARE void give_up_order() noexcept;

  core& scheduler_;
  in_place_rule in_place_;
  followed_tree<queued_runnable>& tree_;
  bool const by_hand_;
  frame_record serial_;
  live_count<> live_;  ///< fibers that run or can run; at first the body
  os_env::atomic<std::uint32_t> not_made_{0};
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/replay/replay_run.ipp"
#endif
