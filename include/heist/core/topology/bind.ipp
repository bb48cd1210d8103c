// Bodies of bind.hpp.
#pragma once

#include "heist/core/topology/bind.hpp"

#include <sched.h>  // sched_getaffinity, sched_setaffinity, CPU_ALLOC

#include <cerrno>   // errno, EINVAL
#include <cstddef>  // size_t

namespace heist::topology::detail {

/// A CPU set of any size.
class cpu_mask {
 public:
  explicit cpu_mask(std::size_t cpus) noexcept : cpus_(cpus), set_(CPU_ALLOC(cpus)) {
    if (set_ != nullptr) CPU_ZERO_S(bytes(), set_);
  }
  cpu_mask(cpu_mask const&) = delete;
  cpu_mask& operator=(cpu_mask const&) = delete;
  ~cpu_mask() {
    if (set_ != nullptr) CPU_FREE(set_);
  }

  void add(std::size_t cpu) noexcept {
    if (set_ != nullptr) CPU_SET_S(cpu, bytes(), set_);
  }
  bool contains(std::size_t cpu) const noexcept { return CPU_ISSET_S(cpu, bytes(), set_) != 0; }
  /// Reads the CPUs that the calling thread may use.
  bool load() noexcept { return set_ != nullptr && ::sched_getaffinity(0, bytes(), set_) == 0; }
  /// Lets the calling thread use these CPUs only.
  bool store() const noexcept { return set_ != nullptr && ::sched_setaffinity(0, bytes(), set_) == 0; }

 private:
  std::size_t bytes() const noexcept { return CPU_ALLOC_SIZE(cpus_); }

  std::size_t cpus_;
  cpu_set_t* set_;
};

}  // namespace heist::topology::detail

namespace heist::topology {

HEIST_COLD_BODY std::vector<std::uint32_t> allowed_cpus() {
  for (std::size_t cpus = 1024; cpus <= std::size_t{1} << 20; cpus *= 2) {
    detail::cpu_mask mask(cpus);
    if (!mask.load()) {
      if (errno == EINVAL) continue;  // the kernel's mask is larger
      break;
    }
    std::vector<std::uint32_t> result;
    for (std::size_t cpu = 0; cpu < cpus; ++cpu)
      if (mask.contains(cpu)) result.push_back(static_cast<std::uint32_t>(cpu));
    return result;
  }
  return {};
}

HEIST_COLD_BODY bool bind_this_thread(machine const& m, pu const& where) noexcept {
  if (!m.is_this_machine) return false;
  detail::cpu_mask mask(std::size_t{where.os_index} + 1);
  mask.add(where.os_index);
  return mask.store();
}

HEIST_COLD_BODY bool bind_this_thread(machine const& m, std::uint32_t pu_index) noexcept {
  return pu_index < m.pus.size() && bind_this_thread(m, m.pus[pu_index]);
}

HEIST_COLD_BODY bool unbind_this_thread(machine const& m) noexcept {
  if (!m.is_this_machine || m.pus.empty()) return false;
  std::uint32_t last = 0;
  for (auto const& p : m.pus) last = p.os_index > last ? p.os_index : last;
  detail::cpu_mask mask(std::size_t{last} + 1);
  for (auto const& p : m.pus) mask.add(p.os_index);
  return mask.store();
}

}  // namespace heist::topology
