// Which squad ran which inter-squad task of a region.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <utility>  // move
#include <vector>

#include "heist/base/env.hpp"
#include "heist/sync/spin_lock.hpp"

namespace heist::detail {

/// A table from a hash of a task's path to the number of a squad. Advice: two paths with the same hash share an entry,
/// and what does not fit is not remembered before the next make_room().
///
/// Threads  find() and remember() any; make_room() and clear() while nobody else uses it.
/// Cost     a lock held for some loads; no allocation but in make_room().
class squad_memory {
 public:
  static constexpr std::uint32_t unknown = ~std::uint32_t{0};

  std::uint32_t find(std::uint64_t path) noexcept {
    spin_guard guard{lock_};
    if (slots_.empty()) return unknown;
    return slots_[place_of(path)].squad;
  }
  void remember(std::uint64_t path, std::uint32_t number) noexcept {
    spin_guard guard{lock_};
    if (slots_.empty()) return;
    slot& s = slots_[place_of(path)];
    if (s.squad == unknown) {
      if (2 * (used_ + 1) > slots_.size()) {
        full_ = true;
        return;
      }
      ++used_;
    }
    s = {path, number};
  }

  /// Twice the room, if it was too little. Throws bad_alloc.
  void make_room() {
    if (!slots_.empty() && !full_) return;
    std::vector<slot> const old = std::move(slots_);
    slots_ = std::vector<slot>(old.empty() ? first_size : 2 * old.size());
    full_ = false;
    for (slot const& s : old) {
      if (s.squad != unknown) slots_[place_of(s.path)] = s;
    }
  }
  void clear() noexcept {
    slots_.clear();
    used_ = 0;
    full_ = false;
  }

 private:
  static constexpr std::size_t first_size = 64;  // a power of two, as all sizes

  struct slot {
    std::uint64_t path = 0;
    std::uint32_t squad = unknown;
  };

  /// Where the path is, or would be. The table is at most half full.
  std::size_t place_of(std::uint64_t path) const noexcept {
    std::size_t at = path & (slots_.size() - 1);
    while (slots_[at].squad != unknown && slots_[at].path != path) at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  spin_lock<> lock_;
  std::vector<slot> slots_;
  std::size_t used_ = 0;
  bool full_ = false;
};

}  // namespace heist::detail
