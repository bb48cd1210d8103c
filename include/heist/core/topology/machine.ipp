// Bodies of machine.hpp.
#pragma once

#include "heist/core/topology/machine.hpp"

#include "heist/core/base/format.hpp"

namespace heist::topology {

HEIST_COLD_BODY std::uint64_t machine::numa_distance(std::size_t from, std::size_t to) const noexcept {
  auto const n = numa_count();
  return from < n && to < n && numa_distances.size() == n * n ? numa_distances[from * n + to] : 0;
}

HEIST_COLD_BODY std::size_t machine::count(std::int32_t pu::*level) const noexcept {
  std::int32_t last = -1;
  for (auto const& p : pus) last = p.*level > last ? p.*level : last;
  return static_cast<std::size_t>(last + 1);
}

}  // namespace heist::topology

namespace heist::topology::detail {

HEIST_COLD_BODY std::string bytes_text(std::uint64_t bytes) {
  if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) return heist::detail::format_text("{} MiB", {bytes >> 20});
  if (bytes >= 1 << 10) return heist::detail::format_text("{} KiB", {bytes >> 10});
  return heist::detail::format_text("{} B", {bytes});
}

}  // namespace heist::topology::detail

namespace heist::topology {

HEIST_COLD_BODY std::string machine::to_text() const {
  std::string text;
  auto const add = [&](std::size_t n, char const* one, char const* many, std::uint64_t bytes = 0) {
    if (n == 0) return;
    text += heist::detail::format_text("{}{} {}", {text.empty() ? "" : ", ", n, n == 1 ? one : many});
    if (bytes != 0) text.append(" (").append(detail::bytes_text(bytes)).append(")");
  };
  add(package_count(), "package", "packages");
  add(numa_count(), "NUMA node", "NUMA nodes");
  add(l3_count(), "L3", "L3", l3_bytes);
  add(l2_count(), "L2", "L2", l2_bytes);
  add(core_count(), "core", "cores");
  add(pu_count(), "PU", "PUs");
  if (text.empty()) text = "no PUs";
  if (!is_this_machine) text += ", not this machine";
  if (!note.empty()) text.append(" (").append(note).append(")");
  return text;
}

}  // namespace heist::topology
