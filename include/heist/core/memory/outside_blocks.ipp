// Bodies of outside_blocks.hpp.
#pragma once

#include "heist/core/memory/outside_blocks.hpp"

#include <new>
#include <utility>  // exchange

namespace heist::detail {

HEIST_BODY std::array<outside_blocks::list, 1u << outside_blocks::bits>& outside_blocks::lists() noexcept {
  static constinit std::array<list, 1u << bits> all{};
  return all;
}

/// Their stacks tell threads apart.
HEIST_BODY outside_blocks::list& outside_blocks::mine() noexcept {
  std::uint64_t const stack = stack_address() >> 16;  // the same at most depths
  return lists()[(stack * 0x9E3779B97F4A7C15u) >> (64 - bits)];
}

HEIST_BODY void* outside_blocks::take(std::size_t bytes) noexcept {
  std::size_t const c = block_pool::class_of(bytes);
  list& from = mine();
  if (!from.lock.try_lock()) return nullptr;
  free_block* const block = from.first[c];
  if (block != nullptr) {
    from.first[c] = block->next;
    --from.count[c];
  }
  from.lock.unlock();
  return block;
}

HEIST_BODY bool outside_blocks::give(void* block, std::size_t bytes) noexcept {
  std::size_t const c = block_pool::class_of(bytes);
  list& to = mine();
  if (!to.lock.try_lock()) return false;
  bool const kept = to.count[c] != most;
  if (kept) {
    to.first[c] = ::new (block) free_block{to.first[c]};
    ++to.count[c];
  }
  to.lock.unlock();
  return kept;
}

HEIST_COLD_BODY void outside_blocks::clear() noexcept {
  for (list& l : lists()) {
    std::array<free_block*, block_classes> first{};
    {
      spin_guard guard{l.lock};
      first = std::exchange(l.first, {});
      l.count = {};
    }
    for (free_block* b : first) {
      while (b != nullptr) ::operator delete(std::exchange(b, b->next));
    }
  }
}

}  // namespace heist::detail
