// How a task enters a region where the policy records: free, along a steal tree, or as ctx.designate says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/locality/region/region.hpp"
#include "heist/locality/replay/replay_memory.hpp"
#include "heist/locality/replay/replay_run.hpp"

namespace heist::detail {

/// One run of a region under a policy that records.
class recorded_region_run {
 public:
  /// Throws region_error if it is in use.
  recorded_region_run(region& r, fiber& self);
  frame_record& body_record() noexcept;
  std::uint32_t body_worker() const noexcept { return body_; }
  bool follows() const noexcept { return replay_.has_value(); }
  /// The interrupt state of the body's tasks.
  interrupt_state& interrupt() noexcept { return replay_->interrupt; }

  /// On the worker of the body, right before it.
  void begin() noexcept;
  /// Right after it.
  void end() noexcept;
  /// By the task that entered.
  void finish(bool failed) noexcept;

 private:
  using following = region_access::following_kind;

  void follow(adaptation const& adapted);
  void follow(steal_tree const& tree, replay_mode mode, bool by_hand = false);
  std::string explain() const;

  region_access const memory_;
  core& scheduler_;
  replay_memory& kept_;
  steal_log& log_;
  recorded_run run_;
  std::optional<replay_run> replay_;
  std::uint32_t body_;
  std::size_t recorded_with_ = 0;
  bool keeps_order_ = false;
  std::int64_t start_time_ = 0, elapsed_ = 0;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/replay/recorded_region.ipp"
#endif
