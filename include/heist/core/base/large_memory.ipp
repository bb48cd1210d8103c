// Bodies of large_memory.hpp.
#pragma once

#include "heist/core/base/large_memory.hpp"

#include <bit>  // bit_width
#include <new>

#include "heist/core/base/env.hpp"

namespace heist::detail {

// Edge
//   E1  unlock: taken.store(release) -> try_lock: taken.exchange(acquire)   the lists

struct kept_block {
  kept_block* next;
};
struct kept_blocks {
  static constexpr std::size_t sizes =
      4 * (std::bit_width(large_memory::most_kept) - std::bit_width(large_memory::smallest) + 1);

  bool try_lock() noexcept { return !taken.exchange(true, std::memory_order_acquire); }  // acquire: E1
  void unlock() noexcept { taken.store(false, std::memory_order_release); }              // release: E1

  os_env::atomic<bool> taken{false};
  os_env::atomic<std::size_t> bytes{0};  ///< of all; written under the lock
  kept_block* first[sizes]{};            ///< by size
};
HEIST_ONE_COPY inline constinit kept_blocks kept_large_blocks;

/// Four sizes for each power of two.
struct large_size {
  explicit constexpr large_size(std::size_t wanted) noexcept {
    auto const power = static_cast<std::size_t>(std::bit_width(wanted - 1));
    std::size_t const step = (std::size_t{1} << power) / 8;
    std::size_t const steps = (wanted - 1) / step + 1;  // 5 to 8
    rounded = steps * step;
    index = 4 * (power + 1 - std::bit_width(large_memory::smallest)) + steps - 5;
  }
  /// Of the blocks in a list.
  static constexpr std::size_t of(std::size_t index) noexcept {
    return (large_memory::smallest / 8 << index / 4) * (index % 4 + 5);
  }
  std::size_t rounded, index;
};
static_assert(large_size::of(large_size{large_memory::smallest}.index) == large_memory::smallest);
static_assert(large_size::of(large_size{large_memory::most_kept}.index) == large_memory::most_kept);
static_assert(large_size{large_memory::most_kept}.index + 1 == kept_blocks::sizes);

HEIST_COLD_BODY void* large_memory::allocate(std::size_t bytes) {
  large_size const size{bytes};
  kept_blocks& kept = kept_large_blocks;
  kept_block* block = nullptr;
  if (kept.try_lock()) {
    block = kept.first[size.index];
    if (block != nullptr) {
      kept.first[size.index] = block->next;
      // relaxed: under the lock
      kept.bytes.store(kept.bytes.load(std::memory_order_relaxed) - size.rounded, std::memory_order_relaxed);
    }
    kept.unlock();
  }
  return block != nullptr ? block : ::operator new(size.rounded);
}

HEIST_COLD_BODY void large_memory::free(void* block, std::size_t bytes) noexcept {
  large_size const size{bytes};
  kept_blocks& kept = kept_large_blocks;
  if (kept.try_lock()) {
    std::size_t const then = kept.bytes.load(std::memory_order_relaxed) + size.rounded;  // relaxed: under the lock
    bool const has_room = then <= most_kept;
    if (has_room) {
      kept.first[size.index] = ::new (block) kept_block{kept.first[size.index]};
      kept.bytes.store(then, std::memory_order_relaxed);  // relaxed: under the lock
    }
    kept.unlock();
    if (has_room) return;
  }
  ::operator delete(block);
}

HEIST_COLD_BODY bool large_memory::has_any() noexcept {
  // relaxed: hints. In a child of fork() it may be taken for ever, and then nothing can be had.
  return kept_large_blocks.bytes.load(std::memory_order_relaxed) != 0 &&
         !kept_large_blocks.taken.load(std::memory_order_relaxed);
}

HEIST_COLD_BODY bool large_memory::release_one() noexcept {
  kept_blocks& kept = kept_large_blocks;
  if (!has_any() || !kept.try_lock()) return false;
  kept_block* block = nullptr;
  for (std::size_t i = 0; block == nullptr && i != kept_blocks::sizes; ++i) {
    block = kept.first[i];
    if (block == nullptr) continue;
    kept.first[i] = block->next;
    // relaxed: under the lock
    kept.bytes.store(kept.bytes.load(std::memory_order_relaxed) - large_size::of(i), std::memory_order_relaxed);
  }
  kept.unlock();
  ::operator delete(block);
  return block != nullptr;
}

}  // namespace heist::detail
