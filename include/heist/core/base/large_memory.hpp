// Memory of large arrays and chunks, which is used again after it is freed. A new page from the system costs a page fault.
// The fault often takes longer than a graph needs to fill the page.
#pragma once

#include <cstddef>  // size_t

#include "heist/core/base/config.hpp"

namespace heist::detail {

/// Freed blocks of at least `smallest` bytes, `most_kept` bytes together: one set for the process. An executor frees the set
/// when it has been idle for a while, and when it ends. Blocks of `huge_page` and more are aligned to it, and the kernel is
/// asked for pages of that size where it gives them on request.
///
/// Threads  every member may be called by any thread; none waits for another.
class large_memory {
 public:
  static constexpr std::size_t smallest = 4096;
  static constexpr std::size_t huge_page = std::size_t{2} << 20;
  static constexpr std::size_t most_kept = std::size_t{32} << 20;

  /// Does such a block come from here? AddressSanitizer needs to see the end of each: under it the answer is no.
  static constexpr bool fits(std::size_t bytes, std::size_t alignment) noexcept {
    return !under_asan && bytes >= smallest && alignment <= __STDCPP_DEFAULT_NEW_ALIGNMENT__;
  }

  /// `bytes`: which fits(). Throws bad_alloc. If the system has no memory, it first frees the kept blocks. It cannot free
  /// them while another thread uses the set.
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
