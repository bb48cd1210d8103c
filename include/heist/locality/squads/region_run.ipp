// Bodies of region_run.hpp.
#pragma once

#include "heist/locality/squads/region_run.hpp"

#include <fmt/core.h>

#include <exception>
#include <new>  // bad_alloc

#include "heist/locality/policy/first_squad.hpp"

namespace heist::detail {

HEIST_COLD_BODY division region_run::plan() {
  how_known_ = memory_.planned_for() == scheduler_.serial();
  if (!how_known_ && memory_.planned_for() != ~scheduler_.serial()) {
    memory_.forget_squads();
    memory_.scheduler().reset();
  }
  std::size_t const squads = squads_of(scheduler_).squads.size();
  std::uint64_t const cache = squads_of(scheduler_).cache_bytes();
  if (squads == 1) {
    say([&] { return std::string{"traditional stealing because all workers are in one squad"}; }, 0);
    how_ = division::flat;
  } else if (memory_.r.options().tiers_by_hand) {
    say([&] { return fmt::format("two tiers by hand on {} squads: ctx.inter_fork makes inter-squad tasks", squads); });
    how_ = division::by_hand;
  } else if (tiers_ == tier_mode::by_level || memory_.r.options().boundary_level) {
    how_ = plan_by_level(squads, cache);
  } else {
    how_ = plan_by_profile(squads, cache);
  }
  memory_.planned_for() = scheduler_.serial();
  std::uint64_t const bytes =
      how_ == division::by_profile ? memory_.profile()[region_profile::root].soid_bytes : memory_.r.options().bytes;
  keeps_first_ = returns_to_first_squad(bytes);
  if (how_ != division::flat && how_ != division::profiled && squads_of(scheduler_).has_history_squads)
    memory_.make_room(how_known_ ? 0 : inter_tasks());
  return how_;
}

HEIST_COLD_BODY bool region_run::returns_to_first_squad(std::uint64_t bytes) const noexcept {
  squad_extension const& here = squads_of(scheduler_);
  return tier::returns_to_first_squad(here.on_several_nodes(), here.squads.size(), bytes, here.cache_bytes());
}

/// How many inter-squad tasks the run has, or may have.
HEIST_COLD_BODY std::size_t region_run::inter_tasks() const noexcept {
  if (how_ == division::by_profile) return memory_.profile().size() - memory_.profile().count(task_tier::intra);
  if (how_ != division::by_level) return 0;
  std::size_t const branching = memory_.r.options().branching < 2 ? 2 : memory_.r.options().branching;
  std::size_t all = 1, of_level = 1;
  for (std::uint32_t l = 1; l < level_ && all < most_recorded; ++l) all += of_level *= branching;
  return all < most_recorded ? all : most_recorded;
}

HEIST_COLD_BODY void region_run::not_split() noexcept {
  how_ = division::flat;
  try {
    memory_.explanation() =
        "traditional stealing because all fiber stacks are in use; fix it by a larger options::max_fibers";
  } catch (std::exception const&) {  // no memory for the sentence
  }
  memory_.planned_for() = ~scheduler_.serial();  // the next run is planned again
}

HEIST_COLD_BODY squad& region_run::squad_of_scheduler(worker& w) const {
  if (!memory_.scheduler()) memory_.scheduler() = member_of(w).in->number;
  return squads_of(scheduler_)
      .squads[*memory_.scheduler() < squads_of(scheduler_).squads.size() ? *memory_.scheduler() : 0];
}

HEIST_COLD_BODY squad& region_run::squad_for(std::uint64_t path, squad& of_parent) const {
  if (!squads_of(scheduler_).has_history_squads) return of_parent;
  return squads_of(scheduler_).squads[memory_.squad_of(path, of_parent.number, squads_of(scheduler_).squads.size())];
}

HEIST_COLD_BODY std::size_t region_run::groups(std::size_t children) const noexcept {
  return tier::flat_groups(children, squads_of(scheduler_).squads.size(), memory_.r.options().bytes,
                           squads_of(scheduler_).cache_bytes());
}

HEIST_COLD_BODY void region_run::changed_shape() noexcept {
  shape_changed_.store(true, std::memory_order_relaxed);  // relaxed: finish() is later
}

HEIST_COLD_BODY std::uint32_t region_run::record(std::uint32_t parent, std::uint32_t index,
                                                 void const* function) noexcept {
  spin_guard guard{lock_};
  if (tasks_.size() == tasks_.capacity()) return not_recorded;
  tasks_.push_back({parent, index, function, {}});
  return static_cast<std::uint32_t>(tasks_.size() - 1);
}

HEIST_COLD_BODY void region_run::recorded(std::uint32_t task, task_counts const& own, worker const& by) noexcept {
  spin_guard guard{lock_};
  tasks_[task].own = own;
  tasks_[task].squad = member_of(by).in->number;
}

HEIST_COLD_BODY void region_run::finish(bool failed) noexcept {
  try {
    if (!failed) learn();
  } catch (std::exception const&) {  // no memory
    memory_.profile_wanted() = true;
  }
}

HEIST_COLD_BODY void region_run::learn() {
  if (how_ == division::profiled) {
    tier::profile_info info;
    info.squads = squads_of(scheduler_).squads.size();
    info.shared_cache_bytes = squads_of(scheduler_).cache_bytes();
    if (std::uint64_t const line = scheduler_.where.machine().line_bytes; line != 0) info.line_bytes = line;
    info.region_bytes = memory_.r.options().bytes;
    info.hardware_available = squads_of(scheduler_).counters_available();
    info.hardware_why_not = squads_of(scheduler_).counters_why_not();
    if (auto const& event = squads_of(scheduler_).counters_event(); !event.empty()) info.hardware_event = event;
    memory_.profile() = tier::make_profile(tasks_, info);
    memory_.profile_wanted() = false;
    memory_.planned_for() = ~scheduler_.serial();
    memory_.explanation() =
        fmt::format("{}profiled {} tasks: {}", released_, tasks_.size(), memory_.profile().explain());
    if (squads_of(scheduler_).has_history_squads) remember_first_run();
  } else if (shape_changed_.load(std::memory_order_relaxed)) {  // relaxed: all tasks have ended
    memory_.profile_wanted() = true;
    memory_.explanation() = "the tasks were not those of the profiled run; the next run is profiled again";
  }
}

/// Pages are near the squads that touched them first, so the next run begins with these.
HEIST_COLD_BODY void region_run::remember_first_run() {
  std::size_t const squads = squads_of(scheduler_).squads.size();
  try {
    auto found = tier::squads_of_first_run(tasks_, memory_.profile(), squads);
    // In a later run, which is profiled again, the pages are where the first one has put them.
    if (!memory_.profile().empty() && returns_to_first_squad(memory_.profile()[region_profile::root].soid_bytes)) {
      for (auto& t : found) t.squad = memory_.squad_of(t.path, t.squad, squads);
    }
    memory_.forget_squads();  // of tasks that are in the inter tier no more
    memory_.make_room(found.size());
    for (auto const& t : found) memory_.remember(t.path, t.squad);
  } catch (std::bad_alloc const&) {  // then runs are divided, and begin without squads
  }
}

HEIST_COLD_BODY division region_run::plan_by_level(std::size_t squads, std::uint64_t cache) {
  region_options const& known = memory_.r.options();
  if (known.boundary_level) {
    level_ = *known.boundary_level;
    say([&] { return fmt::format("boundary level {} by hand, on {} squads", level_, squads); }, level_);
  } else if (known.bytes == 0 || known.branching < 2) {
    level_ = 0;
    say(
        [&] {
          return fmt::format(
              "traditional stealing because the region does not say {}: the boundary level (CAB, Eq. 4) follows from "
              "both; fix it by heist::region{{{{.branching = ..., .bytes = ...}}}}, or by .boundary_level",
              known.bytes == 0 ? "how many bytes it touches" : "into how many parts, at least 2, its tasks divide");
        },
        0);
  } else {
    level_ = tier::boundary_level_of_region(known.branching, squads, known.bytes, cache);
    say(
        [&] {
          return fmt::format("boundary level {} by Eq. 4: B = {}, M = {}, S_d = {} bytes, S_c = {}", level_,
                             known.branching, squads, known.bytes,
                             cache == 0 ? std::string{"unknown, so by Eq. 1 alone"} : fmt::format("{} bytes", cache));
        },
        level_);
  }
  return level_ == 0 ? division::flat : division::by_level;
}

HEIST_COLD_BODY division region_run::plan_by_profile(std::size_t squads, std::uint64_t cache) {
  if (!memory_.profile_wanted() && !memory_.profile().made_for(squads, cache)) {
    memory_.profile_wanted() = true;
    released_ = "the profile was made for a machine with other squads; ";
  }
  if (memory_.profile_wanted()) {
    memory_.explanation() = released_ + "this run is profiled";
    tasks_.reserve(most_recorded);
    return division::profiled;
  }
  say([&] { return memory_.profile().explain(); });
  return memory_.profile().decision() == profile_decision::two_tiers ? division::by_profile : division::flat;
}

}  // namespace heist::detail
