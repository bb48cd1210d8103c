// Bodies of cats.hpp.
#pragma once

#include "heist/locality/policy/cats.hpp"

#include "heist/core/base/errors.hpp"

#include <fmt/core.h>

#include <algorithm>  // max_element, min, sort
#include <queue>      // priority_queue
#include <tuple>      // tie
#include <unordered_map>

#include "heist/locality/policy/boundary_level.hpp"
#include "heist/locality/policy/path.hpp"

namespace heist::tier::detail {

template <class... Arguments>
[[noreturn]] void fail(fmt::format_string<Arguments...> what, Arguments&&... arguments) {
  throw region_error(fmt::format("the recording of a region's first run is no tree of tasks: {}",
                                 fmt::format(what, std::forward<Arguments>(arguments)...)));
}

HEIST_COLD_BODY task_tree plan(std::vector<profiled_task> const& tasks) {
  if (tasks.size() >= region_profile::no_entry) fail("it has {} tasks, too many to number", tasks.size());
  auto const n = static_cast<std::uint32_t>(tasks.size());
  std::vector<std::uint32_t> by_parent(n);  // all tasks; the root is last, as its parent is the largest number
  for (std::uint32_t i = 0; i < n; ++i) by_parent[i] = i;
  std::sort(by_parent.begin(), by_parent.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(tasks[a].parent, tasks[a].index) < std::pair(tasks[b].parent, tasks[b].index);
  });
  std::vector<std::uint32_t> first(n + std::size_t{1});  // place of a task's first child in by_parent
  for (std::uint32_t place = 0; place < n; ++place) {
    auto const& t = tasks[by_parent[place]];
    bool const is_root = t.parent == profiled_task::no_parent;
    if (!is_root && t.parent >= n) fail("task {} was spawned by task {} of {}", by_parent[place], t.parent, n);
    if (is_root != (place + 1 == n)) fail("it has no root or more than one");
    if (!is_root) ++first[t.parent + std::size_t{1}];
    if (place == 0) continue;
    auto const& before = tasks[by_parent[place - 1]];
    if (before.parent == t.parent && before.index == t.index)
      fail("tasks {} and {} have the same path", by_parent[place - 1], by_parent[place]);
  }
  for (std::uint32_t i = 0; i < n; ++i) first[i + std::size_t{1}] += first[i];

  task_tree tree;
  std::vector<std::uint32_t> order{by_parent.back()};
  tree.entries.push_back({});
  for (std::size_t i = 0; i < order.size(); ++i) {
    auto const& task = tasks[order[i]];
    tree.counts.push_back(&task.own);
    tree.functions.push_back(task.function);
    tree.child_begin.push_back(static_cast<std::uint32_t>(order.size()));
    for (auto place = first[order[i]]; place < first[order[i] + std::size_t{1}]; ++place) {
      order.push_back(by_parent[place]);
      tree.entries.push_back({.parent = static_cast<std::uint32_t>(i), .index = tasks[by_parent[place]].index});
    }
  }
  tree.child_begin.push_back(static_cast<std::uint32_t>(order.size()));
  if (order.size() != n) fail("{} of its {} tasks do not descend from the root", n - order.size(), n);
  return tree;
}

/// Every task gets the part of `bytes` that its ticks are of all ticks; the parts' sum is exact. False if there are no
/// ticks.
HEIST_COLD_BODY bool spread_by_time(task_tree& tree, std::uint64_t bytes) {
  auto const most = ~std::uint64_t{0} / tree.entries.size();  // so that the sum does not overflow
  auto const ticks = [&](std::size_t i) { return std::min(tree.counts[i]->ticks, most); };
  std::uint64_t all = 0, passed = 0, given = 0;
  for (std::size_t i = 0; i < tree.entries.size(); ++i) all += ticks(i);
  if (all == 0) return false;
  for (std::size_t i = 0; i < tree.entries.size(); ++i) {
    passed += ticks(i);
    auto const up_to_here = static_cast<std::uint64_t>(wide{bytes} * passed / all);
    tree.entries[i].own_bytes = up_to_here - given;
    given = up_to_here;
  }
  return true;
}

HEIST_COLD_BODY std::pair<profile_source, std::string> measure(task_tree& tree, profile_info const& info) {
  std::string because = "hardware counters are not available" +
                        (info.hardware_why_not.empty() ? std::string() : ": " + info.hardware_why_not);
  std::uint64_t misses = 0, declared = 0;
  for (auto const* const c : tree.counts) {
    misses = add_saturated(misses, c->private_misses);
    declared = add_saturated(declared, c->declared_bytes);
  }
  if (info.hardware_available) {
    if (misses != 0) {
      for (std::size_t i = 0; i < tree.entries.size(); ++i)
        tree.entries[i].own_bytes = multiply_saturated(tree.counts[i]->private_misses, info.line_bytes);
      return {profile_source::hardware, fmt::format("{}, times {} bytes", info.hardware_event, info.line_bytes)};
    }
    because = fmt::format("the hardware counted nothing ({})", info.hardware_event);
  }
  if (declared != 0) {
    for (std::size_t i = 0; i < tree.entries.size(); ++i) tree.entries[i].own_bytes = tree.counts[i]->declared_bytes;
    return {profile_source::footprint, because + "; the tasks declared what they touch"};
  }
  because += "; no task declared what it touches";
  if (info.region_bytes != 0 && spread_by_time(tree, info.region_bytes))
    return {profile_source::time, because + "; the region's data is spread over the tasks as their time is"};
  return {profile_source::none, because + (info.region_bytes == 0 ? "; the region's data size is not known"
                                                                  : "; the tasks' time was not measured")};
}

HEIST_COLD_BODY void add_up(std::vector<profile_entry>& entries) {
  for (auto& e : entries) e.soid_bytes = e.own_bytes;
  for (std::size_t i = entries.size(); i-- > 1;) {
    auto& parent = entries[entries[i].parent];
    parent.soid_bytes = add_saturated(parent.soid_bytes, entries[i].soid_bytes);
  }
}

/// Does some task run the function of one of its ancestors? The paper asks the compiler whether a function spawns
/// itself. Here the run must have shown it, directly or with other functions in between (heat and heat2 of Algorithm
/// 1).
HEIST_COLD_BODY bool divides_and_conquers(task_tree const& tree) {
  struct frame {
    std::uint32_t entry, next_child;
  };
  std::unordered_map<void const*, std::size_t> on_path;
  std::vector<frame> path;
  auto const enter = [&](std::uint32_t i) {
    path.push_back({i, tree.child_begin[i]});
    return ++on_path[tree.functions[i]] > 1 && tree.functions[i] != nullptr;
  };
  enter(region_profile::root);
  while (!path.empty()) {
    auto& [entry, next] = path.back();
    if (next == tree.child_begin[entry + std::size_t{1}]) {
      --on_path[tree.functions[entry]];
      path.pop_back();
    } else if (enter(next++)) {
      return true;
    }
  }
  return false;
}

/// Section 3.5. Counts the tasks without children that did any work. In a tree with two children per task, the other
/// half only divides data, and its misses say nothing about the program. If more than half of the counted tasks are
/// CPU-bound, the program is CPU-bound.
///
/// By hardware, CMPI = (n_1 p_1/p_1 + n_2 p_2/p_1) / instructions, with misses n_1 of the L1 and n_2 of the last
/// private cache. Footprints and time know neither: there, every line of the task's bytes counts as a miss of both, and
/// its ticks stand in for instructions.
struct cpu_bound_count {
  std::size_t tasks = 0, cpu_bound = 0;
  bool is_majority() const noexcept { return 2 * cpu_bound > tasks; }
};

HEIST_COLD_BODY cpu_bound_count count_cpu_bound(task_tree const& tree, profile_source source,
                                                profile_info const& info) {
  bool const hardware = source == profile_source::hardware;
  double const ratio = info.private_penalty / info.l1_penalty;
  double const threshold = hardware ? info.cpu_bound_misses_per_instruction : info.cpu_bound_misses_per_tick;
  cpu_bound_count result;
  for (std::size_t i = 0; i < tree.entries.size(); ++i) {
    if (!tree.is_childless(i)) continue;
    auto const& c = *tree.counts[i];
    auto const lines = static_cast<double>(tree.entries[i].own_bytes) / static_cast<double>(info.line_bytes);
    double const misses = hardware ? static_cast<double>(c.l1_misses) + static_cast<double>(c.private_misses) * ratio
                                   : lines * (1 + ratio);
    auto const work = static_cast<double>(hardware ? c.instructions : c.ticks);
    if (misses == 0 && work == 0) continue;
    ++result.tasks;
    result.cpu_bound += misses < threshold * work;
  }
  return result;
}

/// The three cases of Fig. 6 with `limit` for the size of the shared cache. A task that fits exactly is divided no
/// further; neither is one whose children touch nothing: it is a leaf inter-squad task whatever its size.
/// Returns the number of leaf inter-squad tasks with data.
HEIST_COLD_BODY std::size_t assign_tiers(task_tree& tree, std::uint64_t limit) {
  auto& all = tree.entries;
  std::vector<bool> divisible(all.size());
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i].soid_bytes != 0) divisible[all[i].parent] = true;
  std::size_t leaves = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i != region_profile::root && all[all[i].parent].tier != task_tier::inter) {
      all[i].tier = task_tier::intra;
    } else {
      all[i].tier = all[i].soid_bytes > limit && divisible[i] ? task_tier::inter : task_tier::leaf_inter;
      leaves += all[i].tier == task_tier::leaf_inter && all[i].soid_bytes != 0;
    }
  }
  return leaves;
}

/// The largest limit that gives `wanted` leaf inter-squad tasks with data. If no limit gives so many, the largest limit
/// that gives the most. Divides the largest task, again and again.
HEIST_COLD_BODY std::uint64_t limit_for(task_tree const& tree, std::uint64_t wanted) {
  auto const& all = tree.entries;
  std::priority_queue<std::pair<std::uint64_t, std::uint32_t>> sequential;
  sequential.emplace(all[region_profile::root].soid_bytes, region_profile::root);
  std::uint64_t leaves = 1, limit = all[region_profile::root].soid_bytes;
  while (leaves < wanted && !sequential.empty()) {
    auto const [bytes, task] = sequential.top();
    sequential.pop();
    std::uint64_t children = 0;
    for (auto child = tree.child_begin[task]; child < tree.child_begin[task + std::size_t{1}]; ++child) {
      if (all[child].soid_bytes == 0) continue;
      ++children;
      sequential.emplace(all[child].soid_bytes, child);
    }
    if (children < 2) continue;  // divided or not, this task makes one leaf
    leaves += children - 1;
    limit = bytes - 1;
  }
  return limit;
}

HEIST_COLD_BODY std::string divide(task_tree& tree, profile_data& data, profile_info const& info) {
  auto const all_bytes = tree.entries[region_profile::root].soid_bytes;
  std::string why = "the shared cache of a squad";
  data.limit_bytes = info.shared_cache_bytes;
  if (info.shared_cache_bytes == 0 || assign_tiers(tree, data.limit_bytes) < info.squads) {
    // Data that fits into fewer caches than there are: Fig. 6 would leave squads without work. The paper's programs
    // never come to this. CAB has a constraint for it (its Eq. 1), and this function has one, too: every squad gets a
    // leaf, and none has much more than its share. An eighth more is let pass, or else halves of unequal size by a few
    // rows (or by the noise of a counter) would be halved again.
    auto const share = all_bytes / info.squads;
    data.limit_bytes = share + share / 8;
    if (assign_tiers(tree, data.limit_bytes) < info.squads)
      data.limit_bytes = std::min(data.limit_bytes, limit_for(tree, info.squads));
    why =
        fmt::format("so that each of {} squads gets a share of {}", info.squads, heist::detail::short_bytes(all_bytes));
  }
  auto const leaves = assign_tiers(tree, data.limit_bytes);
  if (leaves < 2) return "traditional stealing because all data belongs to one task, and that cannot be divided";
  data.decision = profile_decision::two_tiers;
  return fmt::format("two tiers: {} leaf inter-squad tasks{} below tasks with more than {} of data ({})", leaves,
                     leaves < info.squads ? fmt::format(", fewer than the {} squads,", info.squads) : std::string(),
                     heist::detail::short_bytes(data.limit_bytes), why);
}

}  // namespace heist::tier::detail

namespace heist::tier {

HEIST_COLD_BODY region_profile make_profile(std::vector<profiled_task> const& tasks, profile_info const& info) {
  profile_data data;
  data.squads = info.squads;
  data.shared_cache_bytes = info.shared_cache_bytes;
  if (tasks.empty()) return region_profile(std::move(data));

  auto tree = detail::plan(tasks);
  std::tie(data.source, data.source_note) = detail::measure(tree, info);
  detail::add_up(tree.entries);
  auto const cpu = detail::count_cpu_bound(tree, data.source, info);
  if (info.squads <= 1) {
    data.decision = profile_decision::one_squad;
    data.note = "traditional stealing because there is one squad";
  } else if (data.source == profile_source::none) {
    data.note = fmt::format(
        "traditional stealing because nothing could be measured: {}; fix it by ctx.footprint(bytes) in the tasks, or "
        "by region_options::bytes",
        data.source_note);
  } else if (!detail::divides_and_conquers(tree)) {
    data.decision = profile_decision::not_divide_and_conquer;
    data.note = fmt::format(
        "traditional stealing because this is not divide-and-conquer: none of {} tasks runs the function of one of its "
        "ancestors",
        tasks.size());
  } else if (cpu.is_majority()) {
    data.decision = profile_decision::cpu_bound;
    data.note = fmt::format("traditional stealing because {} of {} tasks at the bottom of the tree are CPU-bound",
                            cpu.cpu_bound, cpu.tasks);
  } else {
    data.note = detail::divide(tree, data, info);
  }
  if (data.decision != profile_decision::two_tiers)
    for (auto& e : tree.entries) e.tier = task_tier::intra;
  data.entries = std::move(tree.entries);
  return region_profile(std::move(data));
}

HEIST_COLD_BODY std::vector<task_squad> squads_of_first_run(std::vector<profiled_task> const& tasks,
                                                            region_profile const& profile, std::size_t squads) {
  std::vector<task_squad> found;
  if (profile.decision() != profile_decision::two_tiers) return found;
  std::vector<std::uint32_t> place(profile.size());  // in `found`; a task below a leaf has that of the leaf
  for (std::uint32_t e = 0; e != profile.size(); ++e) {
    profile_entry const& entry = profile[e];
    std::uint32_t const above = e == region_profile::root ? 0 : place[entry.parent];
    place[e] = above;
    if (entry.tier == task_tier::intra) continue;
    place[e] = static_cast<std::uint32_t>(found.size());
    found.push_back({e == region_profile::root ? 0 : path_of_child(found[above].path, entry.index), 0});
  }
  constexpr std::uint32_t no_squad = ~std::uint32_t{0};
  std::vector<std::uint64_t> bytes(found.size() * squads);
  std::vector<std::uint32_t> entry_of(tasks.size());
  for (std::size_t i = 0; i != tasks.size(); ++i) {
    profiled_task const& t = tasks[i];
    std::uint32_t const e =
        t.parent == profiled_task::no_parent ? region_profile::root : profile.lookup(entry_of[t.parent], t.index);
    entry_of[i] = e;
    std::uint64_t& sum = bytes[place[e] * squads + t.squad];
    sum = detail::add_saturated(sum, profile[e].own_bytes);
  }
  for (std::uint32_t e = static_cast<std::uint32_t>(profile.size()); e-- != 0;) {
    if (profile[e].tier == task_tier::intra) continue;
    std::uint64_t const* const own = &bytes[place[e] * squads];
    found[place[e]].squad =
        profile[e].soid_bytes == 0 ? no_squad : static_cast<std::uint32_t>(std::max_element(own, own + squads) - own);
    if (e == region_profile::root) continue;
    std::uint64_t* const above = &bytes[place[profile[e].parent] * squads];
    for (std::size_t s = 0; s != squads; ++s) above[s] = detail::add_saturated(above[s], own[s]);
  }
  std::erase_if(found, [](task_squad const& t) { return t.squad == no_squad; });
  return found;
}

}  // namespace heist::tier
