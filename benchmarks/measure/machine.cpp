// What hwloc, heist and the compiler say of the machine and of this program.
#include <heist/heist.hpp>
#include <heist/simulate.hpp>
#include <heist/topology.hpp>

#include <hwloc.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>  // strerror
#include <string>

#include "../../examples/which_policy/memory.hpp"
#include "../workers.hpp"
#include "measuring.hpp"

namespace measure {
namespace {

nlohmann::json object_of(::hwloc_obj_t o) {
  nlohmann::json j{{"type", ::hwloc_obj_type_string(o->type)}, {"index", o->logical_index}};
  if (o->os_index != HWLOC_UNKNOWN_INDEX) j["os_index"] = o->os_index;
  if (::hwloc_obj_type_is_cache(o->type) != 0) j["bytes"] = o->attr->cache.size;
  if (o->type == HWLOC_OBJ_NUMANODE) j["bytes"] = o->attr->numanode.local_memory;
  auto children = nlohmann::json::array(), memory = nlohmann::json::array();
  for (auto c = o->first_child; c != nullptr; c = c->next_sibling) children.push_back(object_of(c));
  for (auto c = o->memory_first_child; c != nullptr; c = c->next_sibling) memory.push_back(object_of(c));
  if (!children.empty()) j["children"] = children;
  if (!memory.empty()) j["memory"] = memory;
  return j;
}

/// hwloc's tree of the CPUs that this process may use, without devices; null if hwloc has none.
nlohmann::json hwloc_tree() {
  ::hwloc_topology_t t = nullptr;
  if (::hwloc_topology_init(&t) != 0) return nullptr;
  nlohmann::json tree = nullptr;
  if (::hwloc_topology_set_icache_types_filter(t, HWLOC_TYPE_FILTER_KEEP_NONE) == 0 && ::hwloc_topology_load(t) == 0) {
    auto* const may_use = ::hwloc_bitmap_alloc();
    if (::hwloc_get_cpubind(t, may_use, HWLOC_CPUBIND_THREAD) == 0) ::hwloc_topology_restrict(t, may_use, 0);
    ::hwloc_bitmap_free(may_use);
    tree = object_of(::hwloc_get_root_obj(t));
  }
  ::hwloc_topology_destroy(t);
  return tree;
}

/// Tries to count a hardware event of this thread; empty if that works, otherwise why not.
std::string try_counter(std::uint64_t event) {
  ::perf_event_attr wanted{};
  wanted.size = sizeof wanted;
  wanted.type = PERF_TYPE_HARDWARE;
  wanted.config = event;
  wanted.exclude_kernel = wanted.exclude_hv = 1;
  auto const file = static_cast<int>(::syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 0));
  if (file < 0) return std::strerror(errno);
  std::uint64_t count = 0;
  bool const counts = ::read(file, &count, sizeof count) == sizeof count && count != 0;
  ::close(file);
  return counts ? "" : "the counter stays at 0";
}

double clock_cost_ns() {
  constexpr int looks = 100'000;
  stopwatch const watch;
  for (int i = 0; i < looks; ++i) static_cast<void>(std::chrono::steady_clock::now());
  return 1e9 * watch.seconds() / looks;
}

/// How fast memory is for one core and for all. which_policy reads this.
nlohmann::json streams_here() {
  auto const s = heist::sim::measure_streams({.machine = heist::topology::this_machine()});
  nlohmann::json j;
  for (auto const& [name, member] : which_policy::stream_names) j[std::string{name}] = s.*member;
  return j;
}

}  // namespace

nlohmann::json describe_machine() {
  auto const& m = heist::topology::this_machine();
  auto const quota = heist::topology::cpu_quota();
  nlohmann::json j{{"text", m.to_text()},
                   {"pus", m.pu_count()},
                   {"cores", m.core_count()},
                   {"numa_nodes", m.numa_count()},
                   {"packages", m.package_count()},
                   {"l1d_bytes", m.l1d_bytes},
                   {"l2_bytes", m.l2_bytes},
                   {"l2_count", m.l2_count()},
                   {"l3_bytes", m.l3_bytes},
                   {"l3_count", m.l3_count()},
                   {"numa_distances", m.numa_distances},
                   {"allowed_cpus", heist::topology::allowed_cpus()},
                   {"usable_workers", bench::usable_workers()},
                   {"hwloc", hwloc_tree()},
                   {"clock_ns", clock_cost_ns()}};
  j["quota_cpus"] = quota ? nlohmann::json(*quota) : nlohmann::json(nullptr);
  j["counters"] = {{"cycles", try_counter(PERF_COUNT_HW_CPU_CYCLES)},
                   {"cache_misses", try_counter(PERF_COUNT_HW_CACHE_MISSES)}};
#if defined(__clang__)
  j["compiler"] = std::string{"clang "} + __clang_version__;
#else
  j["compiler"] = std::string{"gcc "} + __VERSION__;
#endif
  j["build"] = HEIST_MEASURE_BUILD;
  j["heist"] = HEIST_MEASURE_VERSION;
  j["streams"] = streams_here();
  return j;
}

}  // namespace measure
