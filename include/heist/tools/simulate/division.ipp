// Bodies of division.hpp.
#pragma once

#include "heist/tools/simulate/division.hpp"

#include <fmt/core.h>

#include <vector>

#include "heist/locality/policy/first_squad.hpp"

namespace heist::sim {

HEIST_BODY void region_memory::plan(program const& p, run const& r, division_info const& info) {
  shape_changed_ = false;
  if (info.tiers == tier_mode::none) {
    how_ = division::flat;
  } else if (info.squads == 1) {
    how_ = division::flat;
    note_ = "traditional stealing because all workers are in one squad";
  } else if (info.tiers == tier_mode::by_level || info.boundary_level) {
    plan_by_level(p, r, info);
  } else if (profile_wanted_) {
    how_ = division::profiled;
    note_ = "this run is profiled";
  } else {
    how_ = profile_.decision() == profile_decision::two_tiers ? division::by_profile : division::flat;
    note_ = profile_.explain();
  }
  std::uint64_t const bytes = how_ == division::by_profile ? profile_[region_profile::root].soid_bytes
                              : r.region == none           ? 0
                                                           : p.regions()[r.region].bytes;
  keeps_first_ = tier::returns_to_first_squad(info.several_nodes, info.squads, bytes, info.shared_cache_bytes);
}

HEIST_BODY void region_memory::finish(program const& p, run const& r, division_info const& info) {
  if (how_ == division::profiled) {
    make_profile(p, r, info);
    profile_wanted_ = false;
    note_ = fmt::format("profiled {} tasks: {}", profile_.size(), profile_.explain());
  } else if (shape_changed_) {
    profile_wanted_ = true;
    note_ = "the tasks were not those of the profiled run; the next run is profiled again";
  }
}

HEIST_BODY std::uint32_t region_memory::entry_of_child(std::uint32_t parent, std::uint32_t index) noexcept {
  if (how_ != division::by_profile) return region_profile::no_entry;
  auto const entry = profile_.lookup(parent, index);
  if (entry == region_profile::no_entry) shape_changed_ = true;
  return entry;
}

HEIST_BODY void region_memory::plan_by_level(program const& p, run const& r, division_info const& info) {
  region_info const known = r.region == none ? region_info{} : p.regions()[r.region];
  if (info.boundary_level) {
    level_ = *info.boundary_level;
    note_ = fmt::format("boundary level {} by hand, on {} squads", level_, info.squads);
  } else if (known.bytes == 0 || known.branching < 2) {
    level_ = 0;
    note_ =
        "traditional stealing because the region does not say how many bytes it touches and into how many parts, "
        "at least 2, its tasks divide";
  } else {
    level_ = tier::boundary_level_of_region(known.branching, info.squads, known.bytes, info.shared_cache_bytes);
    note_ = fmt::format("boundary level {} by Eq. 4: B = {}, M = {}, S_d = {} bytes, S_c = {} bytes", level_,
                        known.branching, info.squads, known.bytes, info.shared_cache_bytes);
  }
  how_ = level_ == 0 ? division::flat : division::by_level;
}

HEIST_BODY void region_memory::make_profile(program const& p, run const& r, division_info const& info) {
  std::vector<profiled_task> tasks;
  std::vector<std::uint32_t> numbers{r.first};  // of each task in the program
  tasks.push_back({profiled_task::no_parent, 0, function(p, r.first), own(p, r.first, info)});
  for (std::uint32_t i = 0; i != numbers.size(); ++i) {
    for (stage const& s : p.stages_of(numbers[i])) {
      for (std::uint32_t c = s.first_child; c != s.first_child + s.children; ++c) {
        numbers.push_back(c);
        tasks.push_back({i, p.task_at(c).index, function(p, c), own(p, c, info)});
      }
    }
  }
  tier::profile_info known;
  known.squads = info.squads;
  known.shared_cache_bytes = info.shared_cache_bytes;
  known.region_bytes = r.region == none ? 0 : p.regions()[r.region].bytes;
  known.hardware_why_not = "a simulated machine has none";
  profile_ = tier::make_profile(tasks, known);
  if (!info.has_history_squads) return;
  for (std::size_t i = 0; i != tasks.size(); ++i) tasks[i].squad = first_run_[numbers[i] - r.first];
  for (auto const& t : tier::squads_of_first_run(tasks, profile_, info.squads)) squad_of_[t.path] = t.squad;
}

HEIST_BODY task_counts region_memory::own(program const& p, std::uint32_t t, division_info const& info) noexcept {
  task_counts counts;
  for (stage const& s : p.stages_of(t)) {
    counts.ticks += s.work * info.clock;
    for (touch const& m : p.touches().subspan(s.first_touch, s.touches)) counts.declared_bytes += m.bytes;
  }
  return counts;
}

}  // namespace heist::sim
