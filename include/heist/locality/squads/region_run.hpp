// One run of a region under a policy with tiers: what its frames know, and how it is divided.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/locality/policy/boundary_level.hpp"
#include "heist/locality/policy/cats.hpp"
#include "heist/locality/region/region.hpp"
#include "heist/locality/squads/squad_extension.hpp"

namespace heist::detail {

/// How the forks of a run's tasks are treated.
enum class division {
  flat,      ///< traditional stealing
  profiled,  ///< traditional stealing, measured
  by_level,
  by_profile,
  by_hand
};

/// The shared state of a run's frames.
///
/// Threads  plan() and finish() by the task that enters the region, the rest by its tasks.
class region_run {
 public:
  region_run(region& r, core& scheduler, tier_mode tiers) : memory_{r}, scheduler_{scheduler}, tiers_{tiers} {}

  /// Decides how this run is divided (CAB, Algorithm II, step 2; CATS, Fig. 3). Cost: the sentence and the arithmetic
  /// once for each region and executor.
  division plan();

  /// There is no stack for another task while the caller waits.
  void not_split() noexcept;

  division how() const noexcept { return how_; }
  std::uint32_t boundary_level() const noexcept { return level_; }
  core& scheduler() const noexcept { return scheduler_; }

  /// The squad where the region's body runs: at first that of the worker that enters it.
  squad& squad_of_scheduler(worker& w) const;

  /// The squad that ran the inter-squad task of this path last, or first (locality/policy/first_squad.hpp). Where none
  /// has, and without memory, that of its parent.
  squad& squad_for(std::uint64_t path, squad& of_parent) const;
  void ran_in(std::uint64_t path, std::uint32_t number) const noexcept { memory_.remember(path, number, keeps_first_); }
  bool keeps_first() const noexcept { return keeps_first_; }

  /// Into how many groups a scope's children are dealt.
  std::size_t groups(std::size_t children) const noexcept;

  // --- by_profile ---

  region_profile const& profile() const noexcept { return memory_.profile(); }
  /// A task of this run was not in the first one.
  void changed_shape() noexcept;

  // --- profiled ---

  static constexpr std::uint32_t not_recorded = profiled_task::no_parent;

  /// A task of the first run: its number; not_recorded if there are too many.
  std::uint32_t record(std::uint32_t parent, std::uint32_t index, void const* function) noexcept;
  void recorded(std::uint32_t task, task_counts const& own, worker const& by) noexcept;

  /// Once all tasks have ended. Of a run that an exception has ended nothing is learnt.
  void finish(bool failed) noexcept;

 private:
  void learn();
  void remember_first_run();
  std::size_t inter_tasks() const noexcept;
  bool returns_to_first_squad(std::uint64_t bytes) const noexcept;

  /// Tasks of a first run that are recorded; what more of them fork is counted with the task that forked it.
  static constexpr std::size_t most_recorded = std::size_t{1} << 16;

  template <class Message>
  void say(Message message, std::optional<std::uint32_t> level = std::nullopt) {
    if (how_known_) return;
    memory_.explanation() = message();
    memory_.level() = level;
  }

  division plan_by_level(std::size_t squads, std::uint64_t cache);
  division plan_by_profile(std::size_t squads, std::uint64_t cache);

  region_access memory_;
  core& scheduler_;
  tier_mode const tiers_;
  division how_ = division::flat;
  bool how_known_ = true;
  bool keeps_first_ = false;  ///< tasks return to the squads that ran them first
  std::uint32_t level_ = 0;
  os_env::atomic<bool> shape_changed_{false};
  spin_lock<> lock_;
  std::vector<profiled_task> tasks_;
  std::string released_;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/squads/region_run.ipp"
#endif
