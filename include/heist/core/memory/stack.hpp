// Stacks for fibers: mapped memory with a guard region below, so that an overflow stops the program where it happens.
#pragma once

#include <cstddef>
#include <utility>  // exchange

#include "heist/core/base/config.hpp"

namespace heist::detail {

std::size_t page_size() noexcept;

/// Gives the memory of the whole pages among these bytes back to the system. The pages given back read zero; the bytes
/// outside of them keep their values. Threads may read them meanwhile. Refused, it stays.
void give_pages_back(void* from, std::size_t bytes) noexcept;

/// As large as frames that people have: one that is larger may jump over the guard (options::guard_size).
inline constexpr std::size_t default_guard = std::size_t{256} << 10;

/// Memory for one fiber; grows down from top(). Movable, owns its mapping.
class stack {
 public:
  stack() = default;

  /// Maps at least `bytes` usable bytes with at least `guard` bytes below (0: none) that stop the program, and `above`
  /// bytes above, zeroed. Throws stack_error when the system refuses.
  static stack map(std::size_t bytes, std::size_t above = 0, std::size_t guard = default_guard);

  stack(stack&& other) noexcept
      : base_{std::exchange(other.base_, nullptr)},
        guard_{std::exchange(other.guard_, 0)},
        usable_{std::exchange(other.usable_, 0)},
        above_{std::exchange(other.above_, 0)},
        valgrind_number_{other.valgrind_number_} {}
  stack& operator=(stack&& other) noexcept;
  ~stack();

  /// One past the highest usable byte; page-aligned.
  char* top() const noexcept { return bottom() + usable_; }
  /// The lowest usable byte, above the guard.
  char* bottom() const noexcept { return base_ + guard_; }
  std::size_t usable() const noexcept { return usable_; }
  /// How many bytes there are below `address`, which is on it.
  std::size_t left_below(void const* address) const noexcept;
  /// Is `address` in the guard? Then a frame did not fit.
  bool overflowed_at(void const* address) const noexcept;

  /// Gives the memory of whole pages below `end` back to the system, and of those above top(), which are zero
  /// afterwards. Nothing there is in use.
  void give_back(char* end) const noexcept;

 private:
  stack(char* base, std::size_t guard, std::size_t usable, std::size_t above) noexcept;

  static std::size_t in_pages(std::size_t bytes) noexcept;
  [[noreturn]] static void reject(char const* what, std::size_t bytes);

  char* base_ = nullptr;
  std::size_t guard_ = 0;   // bytes from base_ on
  std::size_t usable_ = 0;  // bytes above the guard
  std::size_t above_ = 0;   // bytes from top() on
  unsigned valgrind_number_ = 0;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/memory/stack.ipp"
#endif
