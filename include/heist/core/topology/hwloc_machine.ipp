// Bodies of hwloc_machine.hpp.
#pragma once

#include "heist/core/topology/hwloc_machine.hpp"

#include <utility>  // move
#include <vector>

#include "heist/core/base/unique_ptr.hpp"

namespace heist::topology::detail {

HEIST_COLD_BODY hwloc_handle::hwloc_handle() noexcept {
  if (::hwloc_get_api_version() >> 16 != HWLOC_API_VERSION >> 16) return;
  if (::hwloc_topology_init(&topology_) != 0) topology_ = nullptr;
}

HEIST_COLD_BODY hwloc_handle::~hwloc_handle() {
  if (topology_ != nullptr) ::hwloc_topology_destroy(topology_);
}

HEIST_COLD_BODY std::int32_t object_numbers::of(::hwloc_obj_t object) {
  if (object == nullptr) return -1;
  return static_cast<std::int32_t>(numbers_.try_emplace(heist::detail::as_key(object), numbers_.size()).value);
}

HEIST_COLD_BODY std::int32_t object_numbers::find(::hwloc_obj_t object) const {
  std::uint64_t const* const number = numbers_.find(heist::detail::as_key(object));
  return number == nullptr ? -1 : static_cast<std::int32_t>(*number);
}

/// The first NUMA node below a list of memory children, preferably one that has memory.
HEIST_COLD_BODY ::hwloc_obj_t first_memory(::hwloc_obj_t child) {
  ::hwloc_obj_t empty = nullptr;
  for (; child != nullptr; child = child->next_sibling) {
    auto const node = child->type == HWLOC_OBJ_NUMANODE ? child : first_memory(child->memory_first_child);
    if (node == nullptr) continue;
    if (node->attr != nullptr && node->attr->numanode.local_memory > 0) return node;
    if (empty == nullptr) empty = node;
  }
  return empty;
}

HEIST_COLD_BODY machine machine_builder::build() {
  for (::hwloc_obj_t p = nullptr; (p = ::hwloc_get_next_obj_by_type(topology_, HWLOC_OBJ_PU, p)) != nullptr;) add(p);
  read_distances();
  return std::move(result_);
}

HEIST_COLD_BODY void machine_builder::add(::hwloc_obj_t object) {
  pu p;
  p.os_index = object->os_index;
  ::hwloc_obj_t memory = nullptr;
  for (auto const* o = object; o != nullptr; o = o->parent) {
    auto* const mutable_o = const_cast<::hwloc_obj_t>(o);
    switch (o->type) {
      case HWLOC_OBJ_CORE:
        p.core = cores_.of(mutable_o);
        break;
      case HWLOC_OBJ_L1CACHE:
        note_cache(o, &result_.l1d_bytes);
        break;
      case HWLOC_OBJ_L2CACHE:
        p.l2 = l2s_.of(mutable_o), note_cache(o, &result_.l2_bytes);
        break;
      case HWLOC_OBJ_L3CACHE:
        p.l3 = l3s_.of(mutable_o), note_cache(o, &result_.l3_bytes);
        break;
      case HWLOC_OBJ_PACKAGE:
        p.package = packages_.of(mutable_o);
        break;
      default:
        break;
    }
    if (memory == nullptr) memory = first_memory(o->memory_first_child);
  }
  p.numa = numas_.of(memory);
  if (p.core < 0) p.core = cores_.of(object);
  result_.pus.push_back(p);
}

HEIST_COLD_BODY void machine_builder::note_cache(::hwloc_obj const* cache, std::uint64_t* bytes) {
  if (cache->attr == nullptr) return;
  if (cache->attr->cache.size > *bytes) *bytes = cache->attr->cache.size;
  if (cache->attr->cache.linesize > result_.line_bytes) result_.line_bytes = cache->attr->cache.linesize;
}

HEIST_COLD_BODY void machine_builder::read_distances() {
  unsigned n = 1;
  ::hwloc_distances_s* found = nullptr;
  if (::hwloc_distances_get_by_type(topology_, HWLOC_OBJ_NUMANODE, &n, &found, HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0) !=
          0 ||
      n == 0)
    return;
  auto const release = [this](::hwloc_distances_s* m) { ::hwloc_distances_release(topology_, m); };
  heist::detail::unique_ptr<::hwloc_distances_s, decltype(release)> const matrix(found, release);
  auto const size = numas_.size();
  std::vector<std::uint64_t> values(size * size);
  std::size_t known = 0;
  for (std::size_t i = 0; i < matrix->nbobjs; ++i) {
    for (std::size_t j = 0; j < matrix->nbobjs; ++j) {
      auto const from = numas_.find(matrix->objs[i]);
      auto const to = numas_.find(matrix->objs[j]);
      if (from < 0 || to < 0) continue;
      values[static_cast<std::size_t>(from) * size + static_cast<std::size_t>(to)] =
          matrix->values[i * matrix->nbobjs + j];
      ++known;
    }
  }
  if (known == size * size) result_.numa_distances = std::move(values);
}

}  // namespace heist::topology::detail
