// Bodies of squads.hpp.
#pragma once

#include "heist/core/topology/squads.hpp"

#include <utility>  // pair

#include "heist/core/base/errors.hpp"
#include "heist/core/base/format.hpp"
#include "heist/core/base/number_map.hpp"

namespace heist::topology::detail {

using heist::detail::as_key;
using heist::detail::number_map;

inline constexpr std::uint32_t no_squad = ~std::uint32_t{0};

/// The level's index of this PU, or a substitute where it has none; `second` keeps the two apart.
HEIST_COLD_BODY std::pair<std::int32_t, int> squad_key(pu const& p, std::uint32_t index, squad_by level) {
  auto const or_package = [&](std::int32_t i) {
    return i >= 0 ? std::pair{i, 0} : p.package >= 0 ? std::pair{p.package, 1} : std::pair{0, 2};
  };
  auto const own = std::pair{static_cast<std::int32_t>(index), 2};
  auto const or_core = [&](std::int32_t i) {
    return i >= 0 ? std::pair{i, 0} : p.core >= 0 ? std::pair{p.core, 1} : own;
  };
  switch (level) {
    case squad_by::package:
      return or_package(p.package);
    case squad_by::numa:
      return or_package(p.numa);
    case squad_by::l3:
      return or_package(p.l3);
    case squad_by::l2:
      return or_core(p.l2);
    case squad_by::core:
      return or_core(p.core);
    case squad_by::automatic:
      break;
  }
  return {0, 0};
}

/// True if some instance of the level holds more than one core.
HEIST_COLD_BODY bool shared_by_cores(machine const& m, std::int32_t pu::*level) {
  number_map core_of;
  for (auto const& p : m.pus) {
    if (p.*level < 0) continue;
    auto const [core, first_seen] = core_of.try_emplace(as_key(p.*level), as_key(p.core));
    if (!first_seen && (core != as_key(p.core) || p.core < 0)) return true;
  }
  return false;
}

HEIST_COLD_BODY std::vector<std::uint32_t> placement(machine const& m, std::vector<std::uint32_t> const& group_of_pu) {
  number_map seen;
  std::vector<std::vector<std::uint32_t>> rounds;
  for (std::uint32_t i = 0; i < m.pus.size(); ++i) {
    if (group_of_pu[i] == no_squad) continue;
    auto const core = m.pus[i].core;
    std::size_t const round = core < 0 ? 0 : seen[as_key(core)]++;
    if (round >= rounds.size()) rounds.resize(round + 1);
    rounds[round].push_back(i);
  }
  std::vector<std::uint32_t> order;
  for (auto const& round : rounds) order.insert(order.end(), round.begin(), round.end());
  return order;
}

/// Squads from groups of PUs: groups without workers vanish, the other groups keep their order.
HEIST_COLD_BODY squads squads_of_groups(machine const& m, std::vector<std::uint32_t> const& group_of_pu,
                                        std::size_t groups, std::size_t workers) {
  auto const order = placement(m, group_of_pu);
  squads result;
  std::vector<std::vector<std::uint32_t>> by_group(groups);
  for (std::size_t w = 0; w < workers; ++w) {
    auto const pu_index = order[w % order.size()];
    result.pu_of_worker.push_back(pu_index);
    by_group[group_of_pu[pu_index]].push_back(static_cast<std::uint32_t>(w));
  }
  result.squad_of.resize(workers);
  for (auto& group : by_group) {
    if (group.empty()) continue;
    for (auto const w : group) result.squad_of[w] = static_cast<std::uint32_t>(result.members.size());
    result.head.push_back(group.front());
    result.members.push_back(std::move(group));
  }
  return result;
}

}  // namespace heist::topology::detail

namespace heist::topology {

HEIST_COLD_BODY squad_by resolve(machine const& m, squad_by level) {
  if (level != squad_by::automatic) return level;
  bool const no_caches_known = m.l3_count() == 0 && m.l2_count() == 0;
  if (m.package_count() > 1 && (m.l3_count() > 0 || no_caches_known) && detail::shared_by_cores(m, &pu::package))
    return squad_by::package;
  if (m.l3_count() > 1 && detail::shared_by_cores(m, &pu::l3)) return squad_by::l3;
  if (m.l2_count() > 1 && detail::shared_by_cores(m, &pu::l2)) return squad_by::l2;
  return squad_by::automatic;
}

HEIST_COLD_BODY squads make_squads(machine const& m, squad_by level, std::size_t workers) {
  if (m.pus.empty())
    throw topology_error(
        "the machine has no PUs to put workers on; describe at least one, e.g. parse(\"core:1 pu:1\")");
  level = resolve(m, level);
  detail::number_map group_of_key;
  std::vector<std::uint32_t> group_of_pu;
  for (std::uint32_t i = 0; i < m.pus.size(); ++i) {
    auto const [index, substitute] = detail::squad_key(m.pus[i], i, level);
    auto const key = static_cast<std::int64_t>(index) * 4 + substitute;
    auto const group = group_of_key.try_emplace(detail::as_key(key), group_of_key.size()).value;
    group_of_pu.push_back(static_cast<std::uint32_t>(group));
  }
  return detail::squads_of_groups(m, group_of_pu, group_of_key.size(), workers);
}

HEIST_COLD_BODY squads make_squads(machine const& m, std::vector<std::vector<std::uint32_t>> const& pu_sets,
                                   std::size_t workers) {
  if (pu_sets.empty())
    throw topology_error("no squads are given; name at least one list of PUs, e.g. {{0, 1}, {2, 3}}");
  std::vector<std::uint32_t> group_of_pu(m.pus.size(), detail::no_squad);
  for (std::uint32_t squad = 0; squad < pu_sets.size(); ++squad) {
    if (pu_sets[squad].empty())
      throw topology_error(
          heist::detail::format_text("squad {} has no PUs; give it at least one or leave it out", {squad}));
    for (auto const p : pu_sets[squad]) {
      if (p >= m.pus.size())
        throw topology_error(heist::detail::format_text(
            "squad {} names PU {}, but the machine has {} PUs; use logical indices below that",
            {squad, p, m.pus.size()}));
      if (group_of_pu[p] != detail::no_squad)
        throw topology_error(heist::detail::format_text(
            "PU {} is named by squad {} and again by squad {}; a PU belongs to one squad", {p, group_of_pu[p], squad}));
      group_of_pu[p] = squad;
    }
  }
  return detail::squads_of_groups(m, group_of_pu, pu_sets.size(), workers);
}

}  // namespace heist::topology

namespace heist::topology::detail {

/// How many caches of this level the squad has that has fewest; 0 if some PU has none, or two squads share one.
HEIST_COLD_BODY std::uint64_t caches_of_each(machine const& m, squads const& s, std::int32_t pu::*level) {
  number_map owner;
  std::vector<std::uint64_t> caches(s.members.size());
  for (std::size_t w = 0; w < s.squad_of.size(); ++w) {
    std::int32_t const cache = m.pus[s.pu_of_worker[w]].*level;
    if (cache < 0) return 0;
    auto const [squad, first_seen] = owner.try_emplace(as_key(cache), s.squad_of[w]);
    if (squad != s.squad_of[w]) return 0;
    if (first_seen) ++caches[s.squad_of[w]];
  }
  if (caches.empty()) return 0;
  std::uint64_t least = caches.front();
  for (std::uint64_t const n : caches) least = n < least ? n : least;
  return least;
}

}  // namespace heist::topology::detail

namespace heist::topology {

HEIST_COLD_BODY std::uint64_t shared_cache_bytes(machine const& m, squads const& s) {
  if (std::uint64_t const n = detail::caches_of_each(m, s, &pu::l3); n != 0 && m.l3_bytes != 0) return n * m.l3_bytes;
  return detail::caches_of_each(m, s, &pu::l2) * m.l2_bytes;
}

}  // namespace heist::topology
