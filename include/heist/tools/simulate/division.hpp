// How the runs of a region are divided between squads, and the notes on them: locality/squads/region_run.hpp and
// locality/region/path_memory.hpp for simulated programs.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/policy/tier.hpp"
#include "heist/locality/policy/boundary_level.hpp"
#include "heist/locality/policy/cats.hpp"
#include "heist/locality/policy/profile.hpp"
#include "heist/tools/simulate/program.hpp"

namespace heist::sim {

enum class division : std::uint8_t {
  flat,      ///< traditional stealing
  profiled,  ///< traditional stealing, and what the tasks touch is noted
  by_level,
  by_profile
};

/// A simulation's data on its machine for the division of a region.
struct division_info {
  tier_mode tiers = tier_mode::none;
  std::uint64_t squads = 1;
  std::uint64_t shared_cache_bytes = 0;  ///< of one squad; 0 unknown
  std::uint32_t clock = 3;               ///< costs::clock
  std::optional<std::uint32_t> boundary_level;
  bool has_history_squads = true;
  bool several_nodes = false;  ///< pages have nodes (options::numa), and workers are on more than one
};

/// The memory of one region.
class region_memory {
 public:
  /// Decides how the run is divided that begins now (CAB, Algorithm II, step 2; CATS, Fig. 3).
  void plan(program const& p, run const& r, division_info const& info);

  /// The run has ended.
  void finish(program const& p, run const& r, division_info const& info);

  division how() const noexcept { return how_; }
  std::string const& explain() const noexcept { return note_; }

  /// Do the forks of an inter-squad task make intra-squad tasks?
  bool is_leaf(std::uint32_t level, std::uint32_t entry) const noexcept {
    if (how_ == division::by_level) return level >= level_;
    return entry == region_profile::no_entry || profile_[entry].tier != task_tier::inter;
  }
  /// The profile's entry of a child; region_profile::no_entry where it is not divided by a profile.
  std::uint32_t entry_of_child(std::uint32_t parent, std::uint32_t index) noexcept;

  /// The squad where the body runs: at first that of the worker that enters the region.
  std::uint32_t scheduler(std::uint32_t of_worker) noexcept {
    if (!scheduler_) scheduler_ = of_worker;
    return *scheduler_;
  }
  /// The squad that ran the task of this path last, or first (locality/policy/first_squad.hpp). Where none has, and
  /// without memory, `fallback`.
  std::uint32_t squad_of(std::uint64_t path, std::uint32_t fallback, bool has_history) const {
    if (!has_history) return fallback;
    auto const found = squad_of_.find(path);
    return found == squad_of_.end() ? fallback : found->second;
  }
  void ran_in(std::uint64_t path, std::uint32_t squad) {
    if (!keeps_first_ || !squad_of_.contains(path)) squad_of_[path] = squad;
  }
  /// A worker of this squad runs the task of a profiled run.
  void profiled_in(std::uint32_t t, run const& r, std::uint32_t squad) {
    if (first_run_.size() <= t - r.first) first_run_.resize(t - r.first + std::size_t{1});
    first_run_[t - r.first] = squad;
  }

 private:
  void plan_by_level(program const& p, run const& r, division_info const& info);

  /// The profile takes the touched memory of the run's tasks as their footprints.
  void make_profile(program const& p, run const& r, division_info const& info);
  static void const* function(program const& p, std::uint32_t t) noexcept {
    return reinterpret_cast<void const*>(
        std::uintptr_t{p.task_at(t).function});  // NOLINT: a name that tells code apart
  }
  static task_counts own(program const& p, std::uint32_t t, division_info const& info) noexcept;

  division how_ = division::flat;
  std::string note_;
  std::uint32_t level_ = 0;
  bool keeps_first_ = false;  ///< tasks return to the squads that ran them first
  bool profile_wanted_ = true, shape_changed_ = false;
  region_profile profile_;
  std::vector<std::uint32_t> first_run_;  ///< the squads of a profiled run's tasks
  std::optional<std::uint32_t> scheduler_;
  std::unordered_map<std::uint64_t, std::uint32_t> squad_of_;  ///< by path; only looked up
};

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/division.ipp"
#endif
