// Bodies of number_map.hpp.
#pragma once

#include "heist/core/base/number_map.hpp"

namespace heist::detail {

/// The index of the key, or of the free entry for it. Fibonacci hashing: keys are often multiples of a power of two.
HEIST_COLD_BODY std::size_t number_map::index_of(std::uint64_t key) const noexcept {
  std::size_t const mask = entries_.size() - 1;
  std::size_t at = static_cast<std::size_t>(key * 0x9e3779b97f4a7c15u >> 32) & mask;
  while (entries_[at].is_used && entries_[at].key != key) at = (at + 1) & mask;
  return at;
}

HEIST_COLD_BODY number_map::place number_map::try_emplace(std::uint64_t key, std::uint64_t value) {
  if (4 * size_ >= 3 * entries_.size()) {
    number_map larger;
    larger.entries_.resize(entries_.empty() ? 8 : 2 * entries_.size());
    for (entry const& e : entries_) {
      if (e.is_used) larger.entries_[larger.index_of(e.key)] = e;
    }
    entries_.swap(larger.entries_);
  }
  entry& found = entries_[index_of(key)];
  bool const is_new = !found.is_used;
  if (is_new) {
    found = {key, value, true};
    ++size_;
  }
  return {found.value, is_new};
}

HEIST_COLD_BODY std::uint64_t const* number_map::find(std::uint64_t key) const noexcept {
  if (entries_.empty()) return nullptr;
  entry const& found = entries_[index_of(key)];
  return found.is_used ? &found.value : nullptr;
}

HEIST_COLD_BODY void number_map::erase_value(std::uint64_t value) {
  number_map without;
  for (entry const& e : entries_) {
    if (e.is_used && e.value != value) without.try_emplace(e.key, e.value);
  }
  entries_.swap(without.entries_);
  size_ = without.size_;
}

}  // namespace heist::detail
