// Blocks that threads outside of executors give back: handles that they drop, for tasks that they submit.
#pragma once

#include <array>
#include <cstddef>  // size_t
#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/core/memory/block_pool.hpp"

namespace heist::detail {

/// One for the process: the executor that a block came from may be gone when its handle is dropped. Threads share a few
/// lists; they never wait for each other, and allocate and free nothing under a lock.
///
/// Threads  every member may be called by any thread.
class outside_blocks {
 public:
  /// A block for so many bytes, which block_pool::fits(); null if none is at hand.
  static void* take(std::size_t bytes) noexcept;
  /// False if there are enough.
  static bool give(void* block, std::size_t bytes) noexcept;
  /// Frees all; when an executor ends.
  static void clear() noexcept;

 private:
  static constexpr unsigned bits = 3;
  static constexpr std::size_t most = 8192;  ///< of each size in each list

  struct alignas(cache_line_size) list {
    spin_lock<> lock;
    std::array<free_block*, block_classes> first{};
    std::array<std::size_t, block_classes> count{};
  };
  static std::array<list, 1u << bits>& lists() noexcept;
  static list& mine() noexcept;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/memory/outside_blocks.ipp"
#endif
