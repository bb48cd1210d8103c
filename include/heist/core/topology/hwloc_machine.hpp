// Machines as plain data, from hwloc's trees. The only file that includes <hwloc.h>.
#pragma once

#include <hwloc.h>

#include <cstddef>  // size_t
#include <cstdint>  // int32_t, uint32_t, uint64_t

#include "heist/core/base/config.hpp"
#include "heist/core/base/number_map.hpp"
#include "heist/core/topology/machine.hpp"

namespace heist::topology::detail {

/// Owns a hwloc topology; false if hwloc gives none, or is of another version than its header.
class hwloc_handle {
 public:
  hwloc_handle() noexcept;
  hwloc_handle(hwloc_handle const&) = delete;
  hwloc_handle& operator=(hwloc_handle const&) = delete;
  ~hwloc_handle();

  explicit operator bool() const noexcept { return topology_ != nullptr; }
  ::hwloc_topology_t get() const noexcept { return topology_; }

 private:
  ::hwloc_topology_t topology_ = nullptr;
};

class bitmap_handle {
 public:
  bitmap_handle() noexcept : bitmap_(::hwloc_bitmap_alloc()) {}
  bitmap_handle(bitmap_handle const&) = delete;
  bitmap_handle& operator=(bitmap_handle const&) = delete;
  ~bitmap_handle() { ::hwloc_bitmap_free(bitmap_); }
  ::hwloc_bitmap_t get() const noexcept { return bitmap_; }

 private:
  ::hwloc_bitmap_t bitmap_;
};

/// Numbers objects in the order in which they are met.
class object_numbers {
 public:
  std::int32_t of(::hwloc_obj_t object);
  std::int32_t find(::hwloc_obj_t object) const;
  std::size_t size() const noexcept { return numbers_.size(); }

 private:
  heist::detail::number_map numbers_;
};

/// Turns a loaded topology into plain data. Works on any tree: a level may be missing for some PUs or for all.
class machine_builder {
 public:
  explicit machine_builder(::hwloc_topology_t topology) : topology_(topology) {}
  HEIST_RARE ~machine_builder() = default;

  machine build();

 private:
  void add(::hwloc_obj_t object);

  /// Where caches of one level differ (hybrid processors), the largest counts.
  void note_cache(::hwloc_obj const* cache, std::uint64_t* bytes);
  void read_distances();

  ::hwloc_topology_t topology_;
  machine result_;
  object_numbers cores_, l2s_, l3s_, numas_, packages_;
};

}  // namespace heist::topology::detail

#if HEIST_HEADER_ONLY
#include "heist/core/topology/hwloc_machine.ipp"
#endif
