// Memory of large arrays and chunks. What is freed serves again: the system zeroes each page that it gives anew, which costs
// more than most of what graphs do with the page.
#pragma once

#include <cstddef>  // size_t

#include "heist/core/base/config.hpp"

namespace heist::detail {

/// Blocks of at least `smallest` bytes that were freed, one set for the process, up to `most_kept` bytes. An executor that
/// is idle for a while, or ends, gives back to the system what is there then.
///
/// Threads  every member may be called by any thread; none waits for another.
class large_memory {
 public:
  static constexpr std::size_t smallest = 4096;
  static constexpr std::size_t most_kept = std::size_t{32} << 20;

  /// Can a block of so many bytes be kept? AddressSanitizer needs to see the end of each: under it the answer is no.
  static constexpr bool fits(std::size_t bytes, std::size_t alignment) noexcept {
    return !under_asan && bytes >= smallest && bytes <= most_kept && alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;
  }

  /// `bytes`: which fits(). Throws bad_alloc.
  static void* allocate(std::size_t bytes);
  /// `bytes`: as allocated.
  static void free(void* block, std::size_t bytes) noexcept;
  /// Is anything kept? A hint.
  static bool has_any() noexcept;
  /// Gives a block back to the system. False if there is none, or if another thread uses the set right now.
  static bool release_one() noexcept;
  static void clear() noexcept {
    while (release_one()) {
    }
  }
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/base/large_memory.ipp"
#endif
