// The online partitioner of CATS (Chen et al., ICS 2012, sections 3.2 and 3.5): it computes the tier of each task in
// the next runs from the records of a region's first run.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t
#include <string>
#include <utility>  // move, pair
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/locality/policy/profile.hpp"

namespace heist::tier {

/// Parameters of make_profile() besides the tasks.
struct profile_info {
  std::uint64_t squads = 1;                                         ///< M
  std::uint64_t shared_cache_bytes = 0;                             ///< S_c of one squad; 0 unknown
  std::uint64_t line_bytes = 64;                                    ///< of a cache line
  std::uint64_t region_bytes = 0;                                   ///< S_d as declared for the region; 0 unknown
  bool hardware_available = false;                                  ///< the tasks' misses and instructions were counted
  std::string hardware_event = "misses of the last private cache";  ///< as hardware_counters::event()
  std::string hardware_why_not;  ///< why nothing was: a sentence without its full stop; hardware_counters::why()

  /// p_1 and p_2 of CMPI, in cycles: what a miss of the L1 and of the last private cache costs.
  double l1_penalty = 12, private_penalty = 40;
  /// CMPI below this is CPU-bound. The paper leaves the number open. Ours: a kernel that streams through arrays has
  /// 0.1 and more, the n-queens puzzle less than 0.001.
  double cpu_bound_misses_per_instruction = 0.01;
  /// The same where only time is known: one line in some 200 ticks.
  double cpu_bound_misses_per_tick = 0.02;
};

/// Makes a profile of a region's first run.
///
/// tasks   every task of the run, in any order; exactly one is the root
///
/// Throws region_error for tasks that are no tree, or if two children of one parent have the same spawn index.
/// Cost: O(n log n) for n tasks.
region_profile make_profile(std::vector<profiled_task> const& tasks, profile_info const& info);

/// A task in the inter tier, and a squad for it.
struct task_squad {
  std::uint64_t path;  ///< path.hpp; the root's is 0
  std::uint32_t squad;
};

/// For each task with data in the inter tier of `profile`: the squad that ran most of it, of `squads`, in the run from
/// which the profile was made. With first touch this squad is near the pages that the run has touched first. Ours: the
/// paper does not speak of pages.
///
/// tasks   those that the profile was made from; a task stands behind its parent
///
/// Cost: O(n + squads m) for n tasks, m of them in the inter tier.
std::vector<task_squad> squads_of_first_run(std::vector<profiled_task> const& tasks, region_profile const& profile,
                                            std::size_t squads);

namespace detail {

using heist::detail::add_saturated;
using heist::detail::multiply_saturated;

/// The tasks in a new order, level by level: the root, its children by spawn index, the children of the first of these,
/// and so on. Parents stand before children, and the children of one task stand next to each other.
struct task_tree {
  std::vector<profile_entry> entries;
  std::vector<task_counts const*> counts;  ///< of each entry
  std::vector<void const*> functions;      ///< of each entry
  std::vector<std::uint32_t> child_begin;  ///< children of entry i: from child_begin[i] to child_begin[i + 1]

  bool is_childless(std::size_t i) const noexcept { return child_begin[i] == child_begin[i + 1]; }
};

/// Chooses the source and takes own_bytes from it.
std::pair<profile_source, std::string> measure(task_tree& tree, profile_info const& info);

/// Eq. 1 for every task.
void add_up(std::vector<profile_entry>& entries);

/// Assigns the tiers; returns the verdict's sentence. Leaves data.verdict alone if there is nothing to divide.
std::string divide(task_tree& tree, profile_data& data, profile_info const& info);

}  // namespace detail

}  // namespace heist::tier

#if HEIST_HEADER_ONLY
#include "heist/locality/policy/cats.ipp"
#endif
