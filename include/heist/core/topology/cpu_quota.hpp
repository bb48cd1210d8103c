// How much CPU time the control groups of this process allow, and how many workers that feeds.
#pragma once

#include <cstddef>  // size_t
#include <optional>
#include <string>
#include <string_view>

#include "heist/core/base/config.hpp"
#include "heist/core/topology/machine.hpp"

namespace heist::topology {

/// CPUs' worth of time that the process may use, by the tightest limit of its cgroup and all above it, of version 1
/// (cpu.cfs_quota_us) and 2 (cpu.max). Nothing if there is no limit. Files that are missing or unreadable limit
/// nothing.
///
/// `root` is put before every path, so that tests can show another file tree. Cost: reads a few files.
std::optional<double> cpu_quota(std::string const& root = {});

/// How many workers can run at the same time: the PUs of the machine or the quota, rounded up, whichever is less; at
/// least 1.
std::size_t usable_cpus(machine const& m, std::optional<double> quota = cpu_quota());
/// The same for so many PUs.
std::size_t usable_cpus(std::size_t pus, std::optional<double> quota = cpu_quota());

namespace detail {

/// A mounted cgroup hierarchy that may limit CPU time.
struct cgroup_mount {
  bool version_2 = false;
  std::string top;   ///< the cgroup that is visible at the mount point
  std::string path;  ///< the mount point
};

/// The kernel writes space, tab, newline and backslash in mountinfo as three octal digits.
std::string unescape(std::string_view text);

/// Reads the next cgroup mount of /proc/self/mountinfo, and removes the read lines. False: there is none. An example line:
/// "36 35 98:0 /top /point rw,noatime master:1 - cgroup cgroup rw,cpu,cpuacct".
bool next_cgroup_mount(std::string_view& mountinfo, cgroup_mount& found);

}  // namespace detail

}  // namespace heist::topology

#if HEIST_HEADER_ONLY
#include "heist/core/topology/cpu_quota.ipp"
#endif
