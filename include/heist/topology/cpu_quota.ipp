// Bodies of cpu_quota.hpp.
#pragma once

#include "heist/topology/cpu_quota.hpp"

#include <charconv>  // from_chars
#include <cmath>     // ceil
#include <cstdint>   // int64_t

#include "heist/topology/read_file.hpp"

namespace heist::topology {

HEIST_COLD_BODY std::size_t usable_cpus(machine const& m, std::optional<double> quota) {
  return usable_cpus(m.pu_count(), quota);
}

HEIST_COLD_BODY std::size_t usable_cpus(std::size_t pus, std::optional<double> quota) {
  std::size_t n = pus > 0 ? pus : 1;
  if (quota && *quota < static_cast<double>(n)) n = static_cast<std::size_t>(std::ceil(*quota));
  return n > 0 ? n : 1;
}

}  // namespace heist::topology

namespace heist::topology::detail {

HEIST_COLD_BODY std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    auto const end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

HEIST_COLD_BODY bool lists(std::string_view commas, std::string_view word) {
  for (auto const part : split(commas, ','))
    if (part == word) return true;
  return false;
}

HEIST_COLD_BODY std::string unescape(std::string_view text) {
  std::string out;
  auto const is_digit = [&](std::size_t i, char most) { return text[i] >= '0' && text[i] <= most; };
  for (std::size_t i = 0; i < text.size(); ++i) {
    bool const escaped =
        text[i] == '\\' && i + 3 < text.size() && is_digit(i + 1, '3') && is_digit(i + 2, '7') && is_digit(i + 3, '7');
    out +=
        escaped ? static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0')) : text[i];
    if (escaped) i += 3;
  }
  return out;
}

HEIST_COLD_BODY std::vector<cgroup_mount> cgroup_mounts(std::string_view mountinfo) {
  std::vector<cgroup_mount> mounts;
  for (auto const line : split(mountinfo, '\n')) {
    auto const dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    auto const before = split(line.substr(0, dash), ' ');
    auto const after = split(line.substr(dash + 3), ' ');
    if (before.size() < 5 || after.size() < 3) continue;
    bool const version_2 = after[0] == "cgroup2";
    if (version_2 || (after[0] == "cgroup" && lists(after[2], "cpu")))
      mounts.push_back({version_2, unescape(before[3]), unescape(before[4])});
  }
  return mounts;
}

/// The process's own cgroup from /proc/self/cgroup: "4:cpu,cpuacct:/some/group" or, of version 2, "0::/some/group".
HEIST_COLD_BODY std::optional<std::string_view> own_cgroup(std::string_view cgroups, bool version_2) {
  for (auto const line : split(cgroups, '\n')) {
    auto const first = line.find(':');
    auto const second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    auto const controllers = line.substr(first + 1, second - first - 1);
    if (version_2 ? line.substr(0, first) == "0" && controllers.empty() : lists(controllers, "cpu"))
      return line.substr(second + 1);
  }
  return std::nullopt;
}

HEIST_COLD_BODY std::optional<std::int64_t> leading_number(std::string_view text) {
  std::int64_t value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end == text.data()) return std::nullopt;
  return value;
}

/// The limit of the cgroup in one directory, not looking further up.
HEIST_COLD_BODY std::optional<double> quota_in(std::string const& directory, bool version_2) {
  constexpr std::size_t longest = 4096;
  std::optional<std::int64_t> quota, period;
  if (version_2) {  // "max 100000" or "50000 100000"
    auto const text = read_file(directory + "/cpu.max", longest);
    auto const words = split(text ? std::string_view(*text) : std::string_view{}, ' ');
    if (words.size() >= 2) quota = leading_number(words[0]), period = leading_number(words[1]);
  } else {  // -1 is no limit
    auto const text = read_file(directory + "/cpu.cfs_quota_us", longest);
    auto const other = read_file(directory + "/cpu.cfs_period_us", longest);
    if (text && other) quota = leading_number(*text), period = leading_number(*other);
  }
  if (!quota || !period || *quota <= 0 || *period <= 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

/// `group` as seen below a mount that shows `top`. A group that is not below it is out of sight, and so is one with a
/// name that no file can have: the mount point is all that can be asked.
HEIST_COLD_BODY std::string visible_part(std::string_view group, std::string_view top) {
  constexpr std::size_t longest_path = 4096;
  if (group.size() > longest_path) return {};
  if (top == "/") top = {};
  bool const below = group.substr(0, top.size()) == top && (group.size() == top.size() || group[top.size()] == '/');
  auto const part = below ? group.substr(top.size()) : std::string_view{};
  if (part.find("/..") != std::string_view::npos || part == "/") return {};
  return std::string(part);
}

}  // namespace heist::topology::detail

namespace heist::topology {

HEIST_COLD_BODY std::optional<double> cpu_quota(std::string const& root) {
  constexpr std::size_t longest = std::size_t{1} << 24;
  auto const cgroups = detail::read_file(root + "/proc/self/cgroup", longest);
  auto const mountinfo = detail::read_file(root + "/proc/self/mountinfo", longest);
  if (!cgroups || !mountinfo) return std::nullopt;
  std::optional<double> least;
  for (auto const& mount : detail::cgroup_mounts(*mountinfo)) {
    auto const group = detail::own_cgroup(*cgroups, mount.version_2);
    if (!group) continue;
    auto part = detail::visible_part(*group, mount.top);
    for (;;) {
      auto const quota = detail::quota_in(root + mount.path + part, mount.version_2);
      if (quota && (!least || *quota < *least)) least = quota;
      if (part.empty()) break;
      part.resize(part.rfind('/') == std::string::npos ? 0 : part.rfind('/'));
    }
  }
  return least;
}

}  // namespace heist::topology
