// How the runs of a region are divided between squads, and what is remembered of them: fork/region_run.hpp and
// sched/squad_memory.hpp for simulated programs.
#pragma once

#include <fmt/format.h>

#include <cstddef>  // size_t
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "heist/policy/boundary_level.hpp"
#include "heist/policy/cats.hpp"
#include "heist/policy/profile.hpp"
#include "heist/policy/tier.hpp"
#include "heist/sim/program.hpp"

namespace heist::sim {

enum class division : std::uint8_t {
  flat,      ///< traditional stealing
  profiled,  ///< traditional stealing, and what the tasks touch is noted
  by_level,
  by_profile
};

/// What a simulation knows of its machine when it divides a region.
struct division_facts {
  tiering tiers = tiering::none;
  std::uint64_t squads = 1;
  std::uint64_t shared_cache_bytes = 0;  ///< of one squad; 0 unknown
  std::uint32_t clock = 3;               ///< costs::clock
  std::optional<std::uint32_t> boundary_level;
};

/// The memory of one region.
class region_memory {
 public:
  /// Decides how the run is divided that begins now (CAB, Algorithm II, step 2; CATS, Fig. 3).
  void plan(program const& p, run const& r, division_facts const& facts) {
    shape_changed_ = false;
    if (facts.tiers == tiering::none) {
      how_ = division::flat;
    } else if (facts.squads == 1) {
      how_ = division::flat;
      note_ = "traditional stealing because all workers are in one squad";
    } else if (facts.tiers == tiering::by_level || facts.boundary_level) {
      plan_by_level(p, r, facts);
    } else if (profile_wanted_) {
      how_ = division::profiled;
      note_ = "this run is profiled";
    } else {
      how_ = profile_.verdict() == profile_verdict::two_tiers ? division::by_profile : division::flat;
      note_ = profile_.note();
    }
  }

  /// The run has ended.
  void finish(program const& p, run const& r, division_facts const& facts) {
    if (how_ == division::profiled) {
      profile_ = make_profile(p, r, facts);
      profile_wanted_ = false;
      note_ = fmt::format("profiled {} tasks: {}", profile_.size(), profile_.note());
    } else if (shape_changed_) {
      profile_wanted_ = true;
      note_ = "the tasks were not those of the profiled run; the next run is profiled again";
    }
  }

  division how() const noexcept { return how_; }
  std::string const& note() const noexcept { return note_; }

  /// Do the forks of an inter-squad task make intra-squad tasks?
  bool is_leaf(std::uint32_t level, std::uint32_t entry) const noexcept {
    if (how_ == division::by_level) return level >= level_;
    return entry == region_profile::no_entry || profile_[entry].tier != task_tier::inter;
  }
  /// The profile's entry of a child; region_profile::no_entry where it is not divided by a profile.
  std::uint32_t entry_of_child(std::uint32_t parent, std::uint32_t index) noexcept {
    if (how_ != division::by_profile) return region_profile::no_entry;
    auto const entry = profile_.lookup(parent, index);
    if (entry == region_profile::no_entry) shape_changed_ = true;
    return entry;
  }

  /// The squad where the body runs: at first that of the worker that enters the region.
  std::uint32_t home(std::uint32_t of_worker) noexcept {
    if (!home_) home_ = of_worker;
    return *home_;
  }
  /// The squad that ran the task of this path last, or `otherwise`.
  std::uint32_t squad_of(std::uint64_t path, std::uint32_t otherwise) const {
    auto const found = squad_of_.find(path);
    return found == squad_of_.end() ? otherwise : found->second;
  }
  void ran_in(std::uint64_t path, std::uint32_t squad) { squad_of_[path] = squad; }

 private:
  void plan_by_level(program const& p, run const& r, division_facts const& facts) {
    region_facts const known = r.region == none ? region_facts{} : p.regions()[r.region];
    if (facts.boundary_level) {
      level_ = *facts.boundary_level;
      note_ = fmt::format("boundary level {} by hand, on {} squads", level_, facts.squads);
    } else if (known.bytes == 0 || known.branching < 2) {
      level_ = 0;
      note_ =
          "traditional stealing because the region does not say how many bytes it touches and into how many parts, "
          "at least 2, its tasks divide";
    } else {
      level_ = tier::boundary_level_of_region(known.branching, facts.squads, known.bytes, facts.shared_cache_bytes);
      note_ = fmt::format("boundary level {} by Eq. 4: B = {}, M = {}, S_d = {} bytes, S_c = {} bytes", level_,
                          known.branching, facts.squads, known.bytes, facts.shared_cache_bytes);
    }
    how_ = level_ == 0 ? division::flat : division::by_level;
  }

  /// What the run's tasks declare is the memory that they touch.
  static region_profile make_profile(program const& p, run const& r, division_facts const& facts) {
    std::vector<profiled_task> tasks;
    std::vector<std::uint32_t> numbers{r.first};  // of each task in the program
    tasks.push_back({profiled_task::no_parent, 0, function(p, r.first), own(p, r.first, facts)});
    for (std::uint32_t i = 0; i != numbers.size(); ++i) {
      for (stage const& s : p.stages_of(numbers[i])) {
        for (std::uint32_t c = s.first_child; c != s.first_child + s.children; ++c) {
          numbers.push_back(c);
          tasks.push_back({i, p.task_at(c).index, function(p, c), own(p, c, facts)});
        }
      }
    }
    tier::profile_facts known;
    known.squads = facts.squads;
    known.shared_cache_bytes = facts.shared_cache_bytes;
    known.region_bytes = r.region == none ? 0 : p.regions()[r.region].bytes;
    known.hardware_why_not = "a simulated machine has none";
    return tier::make_profile(tasks, known);
  }
  static void const* function(program const& p, std::uint32_t t) noexcept {
    return reinterpret_cast<void const*>(
        std::uintptr_t{p.task_at(t).function});  // NOLINT: a name that tells code apart
  }
  static task_counts own(program const& p, std::uint32_t t, division_facts const& facts) noexcept {
    task_counts counts;
    for (stage const& s : p.stages_of(t)) {
      counts.ticks += s.work * facts.clock;
      for (touch const& m : p.touches().subspan(s.first_touch, s.touches)) counts.declared_bytes += m.bytes;
    }
    return counts;
  }

  division how_ = division::flat;
  std::string note_;
  std::uint32_t level_ = 0;
  bool profile_wanted_ = true, shape_changed_ = false;
  region_profile profile_;
  std::optional<std::uint32_t> home_;
  std::unordered_map<std::uint64_t, std::uint32_t> squad_of_;  ///< by path; only looked up
};

}  // namespace heist::sim
