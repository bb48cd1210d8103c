// Bodies of profile.hpp.
#pragma once

#include "heist/locality/policy/profile.hpp"

#include <utility>  // forward, move

#include "heist/core/base/errors.hpp"

#include <fmt/core.h>

#include <algorithm>  // min, sort

#include "heist/core/base/json.hpp"

namespace heist::detail {

template <class... Arguments>
[[noreturn]] void fail_profile(fmt::format_string<Arguments...> what, Arguments&&... arguments) {
  throw region_error(fmt::format("the profile of a region is inconsistent: {}; profile the region again",
                                 fmt::format(what, std::forward<Arguments>(arguments)...)));
}

}  // namespace heist::detail

namespace heist {

HEIST_COLD_BODY region_profile::region_profile(profile_data data) : data_(std::move(data)) {
  check();
  fill_slots();
  check_sums();
}

HEIST_COLD_BODY std::uint32_t region_profile::lookup(std::uint32_t parent, std::uint32_t index) const noexcept {
  if (slots_.empty()) return no_entry;
  for (auto slot = scheduler(parent, index);; slot = (slot + 1) & (slots_.size() - 1)) {
    auto const found = slots_[slot];
    if (found == no_entry || (data_.entries[found].parent == parent && data_.entries[found].index == index))
      return found;
  }
}

HEIST_COLD_BODY bool region_profile::made_for(std::uint64_t squads, std::uint64_t shared_cache_bytes) const noexcept {
  return data_.squads == squads && data_.shared_cache_bytes == shared_cache_bytes;
}

HEIST_COLD_BODY std::size_t region_profile::count(task_tier tier) const noexcept {
  std::size_t n = 0;
  for (auto const& e : data_.entries) n += e.tier == tier;
  return n;
}

HEIST_COLD_BODY void region_profile::check() const {
  auto const& all = data_.entries;
  if (all.size() >= no_entry) detail::fail_profile("it has {} tasks, too many to number", all.size());
  if (all.empty() && data_.decision != profile_decision::nothing_measured) detail::fail_profile("it has no tasks");
  if (!all.empty() && all[root].parent != no_entry) detail::fail_profile("its first task is not the root");
  bool const tiers = data_.decision == profile_decision::two_tiers;
  if (tiers && data_.squads < 2) detail::fail_profile("it has two tiers for {} squads", data_.squads);
  if (tiers && all[root].tier != task_tier::inter)
    detail::fail_profile("two tiers, but its root is not in the inter tier");
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!tiers && all[i].tier != task_tier::intra)
      detail::fail_profile("task {} is {} without two tiers", i, to_string(all[i].tier));
    if (i == root) continue;
    if (all[i].parent >= i) detail::fail_profile("task {} does not stand behind its parent", i);
    bool const below_inter = all[all[i].parent].tier == task_tier::inter;
    if (below_inter == (all[i].tier == task_tier::intra) && tiers)
      detail::fail_profile("task {} is {} below a parent that is {}", i, to_string(all[i].tier),
                           to_string(all[all[i].parent].tier));
  }
}

HEIST_COLD_BODY void region_profile::fill_slots() {
  auto const& all = data_.entries;
  if (all.empty()) return;
  std::size_t size = 2;
  for (; size < 2 * all.size(); size *= 2) --shift_;
  slots_.assign(size, no_entry);
  for (std::uint32_t i = 1; i < all.size(); ++i) {
    auto slot = scheduler(all[i].parent, all[i].index);
    for (; slots_[slot] != no_entry; slot = (slot + 1) & (size - 1))
      if (auto const& e = all[slots_[slot]]; e.parent == all[i].parent && e.index == all[i].index)
        detail::fail_profile("tasks {} and {} have the same path", slots_[slot], i);
    slots_[slot] = i;
  }
}

HEIST_COLD_BODY void region_profile::check_sums() const {
  auto const& all = data_.entries;
  std::vector<std::uint64_t> soid(all.size());
  std::vector<bool> has_children(all.size());
  for (std::size_t i = all.size(); i-- > 0;) {
    soid[i] = detail::add_saturated(soid[i], all[i].own_bytes);
    if (soid[i] != all[i].soid_bytes)
      detail::fail_profile("the data of task {} and its children is {} bytes, not {}", i, soid[i], all[i].soid_bytes);
    if (all[i].tier == task_tier::inter && !has_children[i])
      detail::fail_profile("task {} is inter, but has no children", i);
    if (i == root) break;
    has_children[all[i].parent] = true;
    soid[all[i].parent] = detail::add_saturated(soid[all[i].parent], soid[i]);
  }
}

HEIST_COLD_BODY std::size_t region_profile::scheduler(std::uint32_t parent, std::uint32_t index) const noexcept {
  auto const key = std::uint64_t{parent} << 32 | index;
  return static_cast<std::size_t>((key ^ key >> 29) * 0x9E3779B97F4A7C15u >> shift_);
}

}  // namespace heist

namespace heist::detail {

inline constexpr std::uint64_t profile_version = 1;

HEIST_COLD_BODY std::string short_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  bool const mebi = bytes >= 1024 * 1024;
  auto const unit = std::uint64_t{1} << (mebi ? 20 : 10);
  auto const tenths = bytes % unit * 10 / unit;
  auto const* const name = mebi ? "MiB" : "KiB";
  return tenths == 0 ? fmt::format("{} {}", bytes / unit, name) : fmt::format("{}.{} {}", bytes / unit, tenths, name);
}

/// The place of a word in a list; json_error if it is not there.
template <class Enum, std::size_t N>
Enum enum_of(json::value const& v, std::string_view const (&words)[N]) {
  for (std::size_t i = 0; i < N; ++i)
    if (v.as_string() == words[i]) return static_cast<Enum>(i);
  constexpr std::size_t longest = 60;
  throw json_error(
      fmt::format("JSON: {} is no {}, {}, ...", json::quote(v.as_string().substr(0, longest)), words[0], words[1]));
}

HEIST_COLD_BODY std::uint32_t as_uint32(json::value const& v) {
  auto const n = v.as_unsigned();
  if (n >= region_profile::no_entry) throw json_error(fmt::format("JSON: {} is too large to number a task", n));
  return static_cast<std::uint32_t>(n);
}

HEIST_COLD_BODY profile_entry profile_entry_of(json::value const& v) {
  auto const& fields = v.as_array();
  if (fields.size() != 5) throw json_error(fmt::format("JSON: a task has 5 fields, but {} stand there", fields.size()));
  return {fields[0].is_null() ? region_profile::no_entry : as_uint32(fields[0]), as_uint32(fields[1]),
          fields[2].as_unsigned(), fields[3].as_unsigned(), enum_of<task_tier>(fields[4], tier_words)};
}

}  // namespace heist::detail

namespace heist {

HEIST_COLD_BODY std::string region_profile::text(std::size_t rows) const {
  auto const& all = data_.entries;
  auto const cache = data_.shared_cache_bytes == 0 ? "of unknown size" : detail::short_bytes(data_.shared_cache_bytes);
  auto text = fmt::format("{}\nsquads: {}, shared cache of each: {}, tasks: {}, data: {}, limit: {}\nsource: {} ({})\n",
                          data_.note, data_.squads, cache, all.size(),
                          detail::short_bytes(all.empty() ? 0 : all[root].soid_bytes),
                          detail::short_bytes(data_.limit_bytes), to_string(data_.source), data_.source_note);
  if (data_.decision != profile_decision::two_tiers) return text;

  std::vector<std::uint32_t> leaf(all.size(), no_entry);  // the leaf inter-squad task whose subtree it is in
  std::vector<std::uint32_t> intra_below(all.size());
  std::vector<std::vector<std::uint32_t>> children(all.size());  // of inter tasks
  for (std::uint32_t i = 0; i < all.size(); ++i) {
    if (all[i].tier == task_tier::intra) {
      leaf[i] = leaf[all[i].parent];
      ++intra_below[leaf[i]];
    } else {
      leaf[i] = i;
      if (i != root) children[all[i].parent].push_back(i);
    }
  }
  struct visit {
    std::uint32_t entry;
    std::size_t depth;
  };
  constexpr std::size_t deepest_indent = 20;
  text += fmt::format("{:<48}{:>12}{:>12}  {}\n", "task (spawn index in its parent)", "SOID", "itself", "tier");
  std::size_t visible = 0;
  for (std::vector<visit> stack{{root, 0}}; !stack.empty() && visible < rows; ++visible) {
    auto const [i, depth] = stack.back();
    stack.pop_back();
    auto const name = fmt::format("{:{}}{}", "", 2 * std::min(depth, deepest_indent),
                                  i == root ? std::string("region") : fmt::format("{}", all[i].index));
    text += fmt::format("{:<48}{:>12}{:>12}  ", name, detail::short_bytes(all[i].soid_bytes),
                        detail::short_bytes(all[i].own_bytes));
    text += all[i].tier == task_tier::inter ? std::string("inter\n")
                                            : fmt::format("leaf inter-squad, {} intra-squad below\n", intra_below[i]);
    auto& below = children[i];
    std::sort(below.begin(), below.end(), [&](auto a, auto b) { return all[a].index > all[b].index; });
    for (auto const child : below) stack.push_back({child, depth + 1});
  }
  auto const inter_tier = all.size() - count(task_tier::intra);
  if (visible < inter_tier) text += fmt::format("... and {} more inter-squad tasks\n", inter_tier - visible);
  return text;
}

HEIST_COLD_BODY std::string region_profile::to_json() const {
  auto text = fmt::format(
      "{{\"heist\": \"region profile\", \"version\": {},\n \"squads\": {}, \"shared_cache_bytes\": {}, "
      "\"limit_bytes\": {},\n \"source\": {}, \"source_note\": {},\n \"verdict\": {}, \"note\": {},\n"
      " \"fields\": [\"parent\", \"index\", \"own_bytes\", \"soid_bytes\", \"tier\"],\n \"tasks\": [",
      detail::profile_version, data_.squads, data_.shared_cache_bytes, data_.limit_bytes,
      json::quote(to_string(data_.source)), json::quote(data_.source_note), json::quote(to_string(data_.decision)),
      json::quote(data_.note));
  for (std::size_t i = 0; i < data_.entries.size(); ++i) {
    auto const& e = data_.entries[i];
    text += i == 0 ? "\n  [null, " : fmt::format(",\n  [{}, ", e.parent);
    text += fmt::format("{}, {}, {}, {}]", e.index, e.own_bytes, e.soid_bytes, json::quote(to_string(e.tier)));
  }
  return text + "]}\n";
}

HEIST_COLD_BODY region_profile region_profile::from_json(std::string_view text) {
  profile_data data;
  try {
    auto const v = json::parse(text);
    if (v.at("heist").as_string() != "region profile") throw json_error("JSON: it describes something else");
    if (auto const version = v.at("version").as_unsigned(); version != detail::profile_version)
      throw json_error(fmt::format("its version is {}, this heist reads version {}", version, detail::profile_version));
    data.squads = v.at("squads").as_unsigned();
    data.shared_cache_bytes = v.at("shared_cache_bytes").as_unsigned();
    data.limit_bytes = v.at("limit_bytes").as_unsigned();
    data.source = detail::enum_of<profile_source>(v.at("source"), detail::source_words);
    data.source_note = v.at("source_note").as_string();
    data.decision = detail::enum_of<profile_decision>(v.at("verdict"), detail::decision_words);
    data.note = v.at("note").as_string();
    for (auto const& task : v.at("tasks").as_array()) data.entries.push_back(detail::profile_entry_of(task));
  } catch (json_error const& e) {
    throw region_error(fmt::format("this is no profile of a region: {}; profile the region again", e.what()));
  }
  return region_profile(std::move(data));
}

}  // namespace heist
