// Bodies of discover.hpp.
#pragma once

#include "heist/core/topology/discover.hpp"

#include <cstdint>
#include <cstdlib>  // getenv
#include <string>
#include <utility>  // move

#include "heist/core/base/env.hpp"
#include "heist/core/base/environment.hpp"
#include "heist/core/base/format.hpp"

#include "heist/core/topology/bind.hpp"
#include "heist/core/topology/hwloc_machine.hpp"

namespace heist::topology::detail {

/// A machine without structure: the CPUs of the affinity mask, one core each.
HEIST_COLD_BODY machine flat_machine(std::string note) {
  machine m;
  auto cpus = allowed_cpus();
  m.is_this_machine = !cpus.empty();
  if (cpus.empty()) cpus.push_back(0);
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    pu p;
    p.os_index = cpus[i];
    p.core = static_cast<std::int32_t>(i);
    m.pus.push_back(p);
  }
  m.note = std::move(note);
  return m;
}

HEIST_COLD_BODY machine flat_machine_because(char const* what) {
  return flat_machine(
      heist::detail::format_text("hwloc {}; assuming one core for each CPU in the affinity mask, no caches", {what}));
}

/// A machine, and the mask and variables with which it was discovered.
struct known_machine {
  std::string key;
  machine found;
  known_machine* next;
};

/// The variables with which another machine than this is described, or this one in another way.
inline constexpr char const* describing_variables[] = {"HEIST_TOPOLOGY", "HWLOC_SYNTHETIC",  "HWLOC_XMLFILE",
                                                       "HWLOC_FSROOT",   "HWLOC_COMPONENTS", "HWLOC_THISSYSTEM"};

/// The mask and the variables that discover() depends on, as a text.
HEIST_COLD_BODY std::string what_decides(std::vector<std::uint32_t> const& cpus) {
  std::string key;
  for (std::uint32_t const cpu : cpus) key += heist::detail::format_text("{},", {cpu});
  for (char const* const variable : describing_variables) {
    char const* const text = std::getenv(variable);
    key += ';';
    if (text != nullptr) key += text;
  }
  return key;
}

/// Does as HEIST_TOPOLOGY says. False: it is not set, or means nothing.
HEIST_COLD_BODY bool configure_by_environment(::hwloc_topology_t topology) noexcept {
  using heist::detail::variable;
  std::string_view const text = heist::detail::environment_text(variable::topology);
  if (text.empty()) return false;
  bool const is_file = text.ends_with(".xml");
  if ((is_file ? ::hwloc_topology_set_xml(topology, text.data())
               : ::hwloc_topology_set_synthetic(topology, text.data())) == 0)
    return true;
  heist::detail::say_it_means_nothing(variable::topology);
  return false;
}

/// True if the process may run on every PU: otherwise the numbers are not this machine's.
HEIST_COLD_BODY bool may_run_on_all(::hwloc_topology_t topology, ::hwloc_bitmap_t allowed) {
  return ::hwloc_bitmap_isincluded(::hwloc_topology_get_topology_cpuset(topology), allowed) != 0;
}

}  // namespace heist::topology::detail

namespace heist::topology {

HEIST_COLD_BODY machine discover() {
  detail::hwloc_handle const hwloc;
  if (!hwloc) return detail::flat_machine_because("does not start");
  bool const is_described = detail::configure_by_environment(hwloc.get());
  // hwloc 2.9 asks for the mask for ever where it is refused.
  if (!is_described && has_allowed_cpus() && allowed_cpus().empty())
    return detail::flat_machine_because("would need the affinity mask, which cannot be read");
  if (::hwloc_topology_load(hwloc.get()) != 0) return detail::flat_machine_because("cannot read this machine");
  bool real = ::hwloc_topology_is_thissystem(hwloc.get()) != 0;
  if (real) {
    // HWLOC_TOPOLOGY_FLAG_RESTRICT_TO_CPUBINDING is no substitute: it does nothing when threads of the process differ
    // in their masks.
    detail::bitmap_handle const mask;
    if (mask.get() == nullptr || ::hwloc_get_cpubind(hwloc.get(), mask.get(), HWLOC_CPUBIND_THREAD) != 0 ||
        ::hwloc_topology_restrict(hwloc.get(), mask.get(), 0) != 0)
      return detail::flat_machine_because("cannot apply the affinity mask");
    real = detail::may_run_on_all(hwloc.get(), mask.get());
  }
  auto m = detail::machine_builder(hwloc.get()).build();
  if (m.pus.empty()) return detail::flat_machine_because("finds no PUs");
  m.is_this_machine = real;
  if (!real) m.note = is_described ? "described by HEIST_TOPOLOGY" : "described by hwloc's environment variables";
  return m;
}

HEIST_COLD_BODY bool has_allowed_cpus() {
  for (char const* const variable : detail::describing_variables) {
    if (std::getenv(variable) != nullptr) return false;
  }
  return true;
}

HEIST_COLD_BODY machine const& this_machine() {
  // Entries are only added, and never freed: a child of fork() and the very end of a program may ask.
  static constinit os_env::atomic<detail::known_machine*> all{nullptr};
  detail::known_machine* const first = all.load(std::memory_order_acquire);  // acquire: the entries
  auto const cpus = allowed_cpus();
  // If the mask is not readable, uses the machine of an earlier call.
  if (cpus.empty() && first != nullptr) return first->found;
  std::string const key = detail::what_decides(cpus);
  for (detail::known_machine const* m = first; m != nullptr; m = m->next) {
    if (m->key == key) return m->found;
  }
  auto* const made = new detail::known_machine{key, discover(), first};
  // release: the entry; acquire: the other entries, of which one may be the same, which does no harm
  while (!all.compare_exchange_weak(made->next, made, std::memory_order_acq_rel, std::memory_order_acquire)) {
  }
  return made->found;
}

}  // namespace heist::topology
