// A region's objects under policies that record, kept for the next run so that it need not make them again. The
// difference is measurable in regions of some microseconds.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <memory>  // shared_ptr
#include <optional>

#include "heist/core/base/config.hpp"
#include "heist/core/scheduler/runnable.hpp"
#include "heist/locality/policy/followed_tree.hpp"
#include "heist/locality/policy/replay_mode.hpp"
#include "heist/locality/policy/steal_tree.hpp"
#include "heist/locality/replay/steal_log.hpp"

namespace heist::detail {

/// Threads  of the task that enters the region.
/// Cost     once a run is like the one before it needs no memory.
class replay_memory {
 public:
  /// The memory of a region, which keeps it in `kept`. Throws bad_alloc.
  static replay_memory& of(std::shared_ptr<void>& kept);

  /// The log of the next run. Throws bad_alloc.
  steal_log& begin(std::size_t workers);
  /// After a run that has ended well: replaces `tree`, the previous run's tree, by this run's. Throws as
  /// steal_log::tree().
  void take(std::uint32_t body, steal_tree& tree);

  /// A followed tree as if constructed of the arguments. No worker may be in the last run that followed it. `tree`
  /// stays as it is until forget_tree(). Throws bad_alloc.
  followed_tree<queued_runnable>& follow(steal_tree const& tree, replay_mode mode, std::size_t workers);
  void forget_tree() noexcept { followed_.reset(); }

  /// The tree of runs that follow designations.
  steal_tree const& without_steals(std::size_t workers);

 private:
  steal_log logs_[2];
  unsigned now_ = 0;  ///< which of them is the last run's; the other one's was the run before
  std::optional<followed_tree<queued_runnable>> followed_;
  steal_tree without_steals_;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/replay/replay_memory.ipp"
#endif
