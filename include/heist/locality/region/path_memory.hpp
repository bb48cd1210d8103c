// Which number goes with which task of a region: of the squad that ran it, for instance.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/spin_lock.hpp"

namespace heist::detail {

/// A table from a hash of a task's path to a number. Advice: two paths with the same hash share an entry,
/// and what does not fit is not remembered before the next make_room().
///
/// Threads  find() and remember() any; make_room() and clear() while no other thread uses it.
/// Cost     a lock held for some loads; no allocation but in make_room().
class path_memory {
 public:
  static constexpr std::uint32_t unknown = ~std::uint32_t{0};

  std::uint32_t find(std::uint64_t path) noexcept;
  /// `once`: unless a number is remembered already.
  void remember(std::uint64_t path, std::uint32_t number, bool once = false) noexcept;

  /// Room for so many more; twice the room, if it was too little. Throws bad_alloc.
  void make_room(std::size_t more = 0);
  void clear() noexcept;

 private:
  static constexpr std::size_t first_size = 64;  // a power of two, as all sizes

  struct slot {
    std::uint64_t path = 0;
    std::uint32_t number = unknown;
  };

  /// Where the path is, or would be. The table is at most half full.
  std::size_t place_of(std::uint64_t path) const noexcept;

  spin_lock<> lock_;
  std::vector<slot> slots_;
  std::size_t used_ = 0;
  bool full_ = false;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/region/path_memory.ipp"
#endif
