// Bodies of path_memory.hpp.
#pragma once

#include "heist/locality/region/path_memory.hpp"

#include <utility>  // exchange, move

namespace heist::detail {

HEIST_COLD_BODY std::uint32_t path_memory::find(std::uint64_t path) noexcept {
  spin_guard guard{lock_};
  if (slots_.empty()) return unknown;
  return slots_[place_of(path)].number;
}

HEIST_COLD_BODY void path_memory::remember(std::uint64_t path, std::uint32_t number, bool once) noexcept {
  spin_guard guard{lock_};
  if (slots_.empty()) return;
  slot& s = slots_[place_of(path)];
  if (once && s.number != unknown) return;
  if (s.number == unknown) {
    if (2 * (used_ + 1) > slots_.size()) {
      full_ = true;
      return;
    }
    ++used_;
  }
  s = {path, number};
}

HEIST_COLD_BODY void path_memory::make_room(std::size_t more) {
  std::size_t size = slots_.empty() ? first_size : full_ ? 2 * slots_.size() : slots_.size();
  while (size < 2 * (used_ + more)) size *= 2;
  if (size == slots_.size()) return;
  std::vector<slot> made(size);
  std::vector<slot> const old = std::exchange(slots_, std::move(made));
  full_ = false;
  for (slot const& s : old) {
    if (s.number != unknown) slots_[place_of(s.path)] = s;
  }
}

HEIST_COLD_BODY void path_memory::clear() noexcept {
  slots_.clear();
  used_ = 0;
  full_ = false;
}

HEIST_COLD_BODY std::size_t path_memory::place_of(std::uint64_t path) const noexcept {
  std::size_t at = path & (slots_.size() - 1);
  while (slots_[at].number != unknown && slots_[at].path != path) at = (at + 1) & (slots_.size() - 1);
  return at;
}

}  // namespace heist::detail
