// Bodies of cpu_quota.hpp.
#pragma once

#include "heist/core/topology/cpu_quota.hpp"

#include <cstdint>  // int64_t

#include "heist/core/topology/read_file.hpp"

namespace heist::topology {

HEIST_COLD_BODY std::size_t usable_cpus(machine const& m, std::optional<double> quota) {
  return usable_cpus(m.pu_count(), quota);
}

HEIST_COLD_BODY std::size_t usable_cpus(std::size_t pus, std::optional<double> quota) {
  std::size_t n = pus > 0 ? pus : 1;
  if (!quota || *quota >= static_cast<double>(n)) return n;
  auto const whole = static_cast<std::size_t>(*quota);
  return static_cast<double>(whole) < *quota || whole == 0 ? whole + 1 : whole;
}

}  // namespace heist::topology

namespace heist::topology::detail {

/// The start of `text`, up to `separator`. The text loses both.
HEIST_COLD_BODY std::string_view take(std::string_view& text, char separator) {
  auto const end = text.find(separator);
  auto const part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

/// Empty if there are not so many.
HEIST_COLD_BODY std::string_view word(std::string_view text, int number) {
  while (number-- != 0) take(text, ' ');
  return take(text, ' ');
}

HEIST_COLD_BODY bool lists(std::string_view commas, std::string_view what) {
  while (!commas.empty())
    if (take(commas, ',') == what) return true;
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

HEIST_COLD_BODY bool next_cgroup_mount(std::string_view& mountinfo, cgroup_mount& found) {
  while (!mountinfo.empty()) {
    auto const line = take(mountinfo, '\n');
    auto const dash = line.find(" - ");
    if (dash == std::string_view::npos) continue;
    auto const before = line.substr(0, dash), after = line.substr(dash + 3);
    found.version_2 = word(after, 0) == "cgroup2";
    if (!found.version_2 && (word(after, 0) != "cgroup" || !lists(word(after, 2), "cpu"))) continue;
    found.top = unescape(word(before, 3));
    found.path = unescape(word(before, 4));
    if (!found.path.empty()) return true;
  }
  return false;
}

/// The process's own cgroup from /proc/self/cgroup: "4:cpu,cpuacct:/some/group" or, of version 2, "0::/some/group".
/// A view without data where there is none.
HEIST_COLD_BODY std::string_view own_cgroup(std::string_view cgroups, bool version_2) {
  while (!cgroups.empty()) {
    auto line = take(cgroups, '\n');
    auto const number = take(line, ':');
    if (line.find(':') == std::string_view::npos) continue;
    auto const controllers = take(line, ':');
    if (version_2 ? number == "0" && controllers.empty() : lists(controllers, "cpu")) return line;
  }
  return {};
}

/// The number that the text begins with. 0 if there is none, or if it has too many digits for a limit.
HEIST_COLD_BODY std::int64_t leading_number(std::string_view text) {
  constexpr std::size_t most_digits = 18;
  std::int64_t value = 0;
  std::size_t digits = 0;
  for (; digits != text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    if (digits == most_digits) return 0;
    value = 10 * value + (text[digits] - '0');
  }
  return value;
}

/// The limit of the cgroup in one directory, not looking further up; 0 if it has none.
HEIST_COLD_BODY double quota_in(std::string const& directory, bool version_2) {
  constexpr std::size_t longest = 4096;
  auto const contents = [&directory](char const* name) {
    std::string path = directory, text;
    read_file(path.append(name), longest, text);
    return text;
  };
  // Version 2: "max 100000" or "50000 100000". Version 1: -1 is no limit.
  std::string const first = contents(version_2 ? "/cpu.max" : "/cpu.cfs_quota_us");
  std::string const second = version_2 ? std::string{} : contents("/cpu.cfs_period_us");
  std::int64_t const quota = leading_number(first);
  std::int64_t const period = leading_number(version_2 ? word(first, 1) : std::string_view{second});
  return quota == 0 || period == 0 ? 0 : static_cast<double>(quota) / static_cast<double>(period);
}

/// `group` as seen below a mount that shows `top`. A group that is not below it is out of sight, and so is one with a
/// name that no file can have: the mount point alone can be asked.
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
  std::string path = root, cgroups, mountinfo;
  if (!detail::read_file(path.append("/proc/self/cgroup"), longest, cgroups)) return std::nullopt;
  path = root;
  if (!detail::read_file(path.append("/proc/self/mountinfo"), longest, mountinfo)) return std::nullopt;
  double least = 0;
  std::string_view mounts = mountinfo;
  for (detail::cgroup_mount mount; detail::next_cgroup_mount(mounts, mount);) {
    auto const group = detail::own_cgroup(cgroups, mount.version_2);
    if (group.data() == nullptr) continue;
    auto part = detail::visible_part(group, mount.top);
    for (;;) {
      path = root;
      double const quota = detail::quota_in(path.append(mount.path).append(part), mount.version_2);
      if (quota > 0 && (least == 0 || quota < least)) least = quota;
      if (part.empty()) break;
      part.resize(part.rfind('/') == std::string::npos ? 0 : part.rfind('/'));
    }
  }
  return least == 0 ? std::nullopt : std::optional<double>{least};
}

}  // namespace heist::topology
