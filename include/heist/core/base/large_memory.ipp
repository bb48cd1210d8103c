// Bodies of large_memory.hpp.
#pragma once

#include "heist/core/base/large_memory.hpp"

#include <sys/mman.h>  // madvise

#include <bit>  // bit_width
#include <new>

#include "heist/core/base/env.hpp"
#include "heist/core/base/spin_lock.hpp"

namespace heist::detail {

struct kept_block {
  kept_block* next;
};
struct kept_blocks {
  static constexpr std::size_t sizes =
      4 * (std::bit_width(large_memory::most_kept) - std::bit_width(large_memory::smallest) + 1);

  /// Null if there is none. Under the lock.
  kept_block* take(std::size_t index, std::size_t size) noexcept {
    kept_block* const block = first[index];
    if (block != nullptr) {
      first[index] = block->next;
      add(-size);
    }
    return block;
  }
  /// Under the lock.
  void add(std::size_t size) noexcept {
    bytes.store(bytes.load(std::memory_order_relaxed) + size, std::memory_order_relaxed);  // relaxed: under the lock
  }

  spin_lock<> lock;
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

HEIST_COLD_BODY void* large_block_from_system(std::size_t bytes) {
  if (bytes < large_memory::huge_page) return ::operator new(bytes);
  void* const block = ::operator new (bytes, std::align_val_t{large_memory::huge_page});
  ::madvise(block, bytes, MADV_HUGEPAGE);
  return block;
}
HEIST_COLD_BODY void large_block_to_system(void* block, std::size_t bytes) noexcept {
  if (bytes < large_memory::huge_page) {
    ::operator delete(block);
  } else {
    ::operator delete (block, std::align_val_t{large_memory::huge_page});
  }
}

HEIST_COLD_BODY void* large_memory::allocate(std::size_t bytes) {
  large_size const size{bytes};
  kept_blocks& kept = kept_large_blocks;
  if (size.rounded <= most_kept && kept.lock.try_lock()) {
    void* const block = kept.take(size.index, size.rounded);
    kept.lock.unlock();
    if (block != nullptr) return block;
  }
  for (;;) {
    try {
      return large_block_from_system(size.rounded);
    } catch (std::bad_alloc const&) {
      if (!release_one()) throw;
    }
  }
}

HEIST_COLD_BODY void large_memory::free(void* block, std::size_t bytes) noexcept {
  large_size const size{bytes};
  kept_blocks& kept = kept_large_blocks;
  if (size.rounded <= most_kept && kept.lock.try_lock()) {
    // relaxed: under the lock
    bool const has_room = kept.bytes.load(std::memory_order_relaxed) + size.rounded <= most_kept;
    if (has_room) {
      kept.first[size.index] = ::new (block) kept_block{kept.first[size.index]};
      kept.add(size.rounded);
    }
    kept.lock.unlock();
    if (has_room) return;
  }
  large_block_to_system(block, size.rounded);
}

HEIST_COLD_BODY bool large_memory::has_any() noexcept {
  return kept_large_blocks.bytes.load(std::memory_order_relaxed) != 0;  // relaxed: a hint
}

HEIST_COLD_BODY bool large_memory::release_one() noexcept {
  kept_blocks& kept = kept_large_blocks;
  if (!has_any() || !kept.lock.try_lock()) return false;
  void* block = nullptr;
  std::size_t size = 0;
  for (std::size_t i = 0; block == nullptr && i != kept_blocks::sizes; ++i) {
    size = large_size::of(i);
    block = kept.take(i, size);
  }
  kept.lock.unlock();
  if (block == nullptr) return false;
  large_block_to_system(block, size);
  return true;
}

}  // namespace heist::detail
