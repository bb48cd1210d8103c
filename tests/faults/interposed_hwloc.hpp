// Stands before hwloc's functions that can fail. To be included by one file of a program, behind interposer.hpp.
#pragma once

#include <hwloc.h>

#include <atomic>
#include <cerrno>

#include "faults/interposer.hpp"

namespace {

std::atomic<long> live_distances{0};  ///< matrices that hwloc has lent

}  // namespace

extern "C" {

unsigned hwloc_get_api_version() {
  static constinit heist_test::next_function<unsigned()> f{"hwloc_get_api_version"};
  return must_fail(site_of("hwloc version")) ? 0x10b00 : f();
}

int hwloc_topology_init(hwloc_topology_t* made) {
  static constinit heist_test::next_function<int(hwloc_topology_t*)> f{"hwloc_topology_init"};
  return must_fail(site_of("hwloc init")) ? reject_with(ENOMEM) : f(made);
}

int hwloc_topology_load(hwloc_topology_t topology) {
  static constinit heist_test::next_function<int(hwloc_topology_t)> f{"hwloc_topology_load"};
  return must_fail(site_of("hwloc load")) ? reject_with(EINVAL) : f(topology);
}

int hwloc_topology_is_thissystem(hwloc_topology_t topology) {
  static constinit heist_test::next_function<int(hwloc_topology_t)> f{"hwloc_topology_is_thissystem"};
  return must_fail(site_of("hwloc this system")) ? 0 : f(topology);
}

HEIST_NOINLINE HEIST_NO_TSAN hwloc_bitmap_t hwloc_bitmap_alloc() {
  static constinit heist_test::next_function<hwloc_bitmap_t()> f{"hwloc_bitmap_alloc"};
  // hwloc asks itself for bitmaps, too.
  if (ours(__builtin_return_address(0)) && must_fail(site_of("hwloc bitmap"))) return reject_with(ENOMEM), nullptr;
  return f();
}

int hwloc_get_cpubind(hwloc_topology_t topology, hwloc_cpuset_t set, int flags) {
  static constinit heist_test::next_function<int(hwloc_topology_t, hwloc_cpuset_t, int)> f{"hwloc_get_cpubind"};
  return must_fail(site_of("hwloc cpubind")) ? reject_with(ENOSYS) : f(topology, set, flags);
}

int hwloc_topology_restrict(hwloc_topology_t topology, hwloc_const_bitmap_t set, unsigned long flags) {
  static constinit heist_test::next_function<int(hwloc_topology_t, hwloc_const_bitmap_t, unsigned long)> f{
      "hwloc_topology_restrict"};
  return must_fail(site_of("hwloc restrict")) ? reject_with(EINVAL) : f(topology, set, flags);
}

HEIST_NOINLINE HEIST_NO_TSAN int hwloc_bitmap_isincluded(hwloc_const_bitmap_t part, hwloc_const_bitmap_t whole) {
  static constinit heist_test::next_function<int(hwloc_const_bitmap_t, hwloc_const_bitmap_t)> f{
      "hwloc_bitmap_isincluded"};
  if (ours(__builtin_return_address(0)) && must_fail(site_of("hwloc included"))) return 0;
  return f(part, whole);
}

/// hwloc_get_next_obj_by_type() is a function of its header, which calls this one.
HEIST_NOINLINE HEIST_NO_TSAN int hwloc_get_type_depth(hwloc_topology_t topology, hwloc_obj_type_t type) {
  static constinit heist_test::next_function<int(hwloc_topology_t, hwloc_obj_type_t)> f{"hwloc_get_type_depth"};
  if (ours(__builtin_return_address(0)) && must_fail(site_of("hwloc objects"))) return HWLOC_TYPE_DEPTH_UNKNOWN;
  return f(topology, type);
}

int hwloc_distances_get_by_type(hwloc_topology_t topology, hwloc_obj_type_t type, unsigned* n,
                                hwloc_distances_s** matrices, unsigned long kind, unsigned long flags) {
  static constinit heist_test::next_function<int(hwloc_topology_t, hwloc_obj_type_t, unsigned*, hwloc_distances_s**,
                                                 unsigned long, unsigned long)>
      f{"hwloc_distances_get_by_type"};
  if (must_fail(site_of("hwloc distances"))) return reject_with(EINVAL);
  int const result = f(topology, type, n, matrices, kind, flags);
  if (result == 0 && *n > 0 && matrices[0] != nullptr) ++live_distances;
  return result;
}

void hwloc_distances_release(hwloc_topology_t topology, hwloc_distances_s* matrix) {
  static constinit heist_test::next_function<void(hwloc_topology_t, hwloc_distances_s*)> f{"hwloc_distances_release"};
  --live_distances;
  f(topology, matrix);
}

}  // extern "C"
