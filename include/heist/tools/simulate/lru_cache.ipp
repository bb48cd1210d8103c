// Bodies of lru_cache.hpp.
#pragma once

#include "heist/tools/simulate/lru_cache.hpp"

#include <bit>  // bit_ceil

namespace heist::sim {

HEIST_BODY bool lru_cache::use(std::uint32_t block, std::uint32_t version) {
  if (capacity_ == 0) return false;
  if (slots_.empty()) allocate();
  std::uint32_t const slot = slot_of(block);
  if (std::uint32_t const at = slots_[slot]; at != none) {
    bool const unused = lines_[at].version == version;
    lines_[at].version = version;
    move_to_front(at);
    return unused;
  }
  insert(slot, block, version);
  return false;
}

HEIST_BODY void lru_cache::allocate() {
  std::uint32_t const wanted = std::bit_ceil(2 * capacity_);
  slots_.assign(wanted, none);
  lines_.reserve(capacity_);
  shift_ = 32 - static_cast<unsigned>(std::bit_width(wanted) - 1);
}

HEIST_BODY std::uint32_t lru_cache::slot_of(std::uint32_t block) const noexcept {
  std::uint32_t slot = scheduler(block);
  while (slots_[slot] != none && lines_[slots_[slot]].block != block) slot = (slot + 1) & mask();
  return slot;
}

HEIST_BODY void lru_cache::insert(std::uint32_t slot, std::uint32_t block, std::uint32_t version) {
  std::uint32_t at;
  if (lines_.size() < capacity_) {
    at = static_cast<std::uint32_t>(lines_.size());
    lines_.push_back({block, version, none, none});
  } else {
    at = back_;
    unlink(at);
    remove(slot_of(lines_[at].block));
    slot = slot_of(block);
    lines_[at] = {block, version, none, none};
  }
  slots_[slot] = at;
  link_front(at);
}

HEIST_BODY void lru_cache::remove(std::uint32_t hole) noexcept {
  for (std::uint32_t slot = (hole + 1) & mask(); slots_[slot] != none; slot = (slot + 1) & mask()) {
    std::uint32_t const wanted = scheduler(lines_[slots_[slot]].block);
    if (((slot - wanted) & mask()) < ((slot - hole) & mask())) continue;
    slots_[hole] = slots_[slot];
    hole = slot;
  }
  slots_[hole] = none;
}

HEIST_BODY void lru_cache::move_to_front(std::uint32_t at) noexcept {
  if (at == front_) return;
  unlink(at);
  link_front(at);
}

HEIST_BODY void lru_cache::unlink(std::uint32_t at) noexcept {
  line const& l = lines_[at];
  (l.newer == none ? front_ : lines_[l.newer].older) = l.older;
  (l.older == none ? back_ : lines_[l.older].newer) = l.newer;
}

HEIST_BODY void lru_cache::link_front(std::uint32_t at) noexcept {
  lines_[at].newer = none;
  lines_[at].older = front_;
  (front_ == none ? back_ : lines_[front_].newer) = at;
  front_ = at;
}

}  // namespace heist::sim
