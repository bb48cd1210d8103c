// Counts the memory of the thread, and lets allocations fail beyond a limit: a reader must not trust a number in a
// file.
#pragma once

#include <cstddef>  // size_t

namespace fuzz {

struct memory_limits {
  std::size_t fixed;   ///< bytes, whatever the input
  std::size_t factor;  ///< bytes for each byte of the input
};

/// While it lives, operator new throws bad_alloc when this thread has more than `most` bytes more than at the
/// beginning. One at a time.
class memory_budget {
 public:
  explicit memory_budget(std::size_t most) noexcept;
  memory_budget(memory_budget const&) = delete;
  memory_budget& operator=(memory_budget const&) = delete;
  ~memory_budget();

  /// An allocation has failed by it.
  bool exceeded() const noexcept;
};

}  // namespace fuzz
