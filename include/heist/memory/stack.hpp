// Stacks for fibers: mapped memory with a guard region below, so that an overflow stops the program where it happens.
#pragma once

#include <fmt/format.h>
#include <sys/mman.h>  // mmap, mprotect, madvise
#include <unistd.h>    // sysconf

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>  // strerror
#include <utility>  // exchange

#include "heist/base/errors.hpp"

namespace heist::detail {

inline std::size_t page_size() noexcept {
  static std::size_t const size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

/// Gives the memory of the whole pages among these bytes back to the system; the others keep what is in them, those
/// read zero. Threads may read them meanwhile. Refused, it stays.
inline void give_pages_back(void* from, std::size_t bytes) noexcept {
  std::size_t const page = page_size();
  auto const at = reinterpret_cast<std::uintptr_t>(from);
  auto const begin = (at + page - 1) / page * page, end = (at + bytes) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

/// As large as frames that people have: one that is larger may jump over the guard (options::guard_size).
inline constexpr std::size_t default_guard = std::size_t{256} << 10;

/// Memory for one fiber; grows down from top(). Movable, owns its mapping.
class stack {
 public:
  stack() = default;

  /// Maps at least `bytes` usable bytes with at least `guard` bytes below (0: none) that stop the program, and `above`
  /// bytes above, zeroed. Throws stack_error when the system refuses.
  static stack map(std::size_t bytes, std::size_t above = 0, std::size_t guard = default_guard) {
    constexpr std::size_t most = ~std::size_t{0} / 4;  // rounding up would end at 0
    if (bytes > most || above > most || guard > most) {
      errno = ENOMEM;
      refuse("map", bytes > most ? bytes : above > most ? above : guard);
    }
    std::size_t const usable = in_pages(bytes);
    above = in_pages(above);
    guard = in_pages(guard);
    std::size_t const all = guard + usable + above;
    void* const at =
        ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (at == MAP_FAILED) refuse("map", all);
    stack made{static_cast<char*>(at), guard, usable, above};
    if (guard == 0) return made;
    // A guard inside the mapping (Linux 6.13) costs no mapping of its own; mprotect splits one in two, and the
    // kernel allows some 65000 of them (vm.max_map_count).
    constexpr int install_guard = 102;  // MADV_GUARD_INSTALL
    if (::madvise(at, guard, install_guard) != 0 && ::mprotect(at, guard, PROT_NONE) != 0) refuse("guard", all);
    return made;
  }

  stack(stack&& other) noexcept
      : base_{std::exchange(other.base_, nullptr)},
        guard_{std::exchange(other.guard_, 0)},
        usable_{std::exchange(other.usable_, 0)},
        above_{std::exchange(other.above_, 0)} {}
  stack& operator=(stack&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(guard_, other.guard_);
    std::swap(usable_, other.usable_);
    std::swap(above_, other.above_);
    return *this;
  }
  ~stack() {
    if (base_ != nullptr) ::munmap(base_, guard_ + usable_ + above_);
  }

  /// One past the highest usable byte; page-aligned.
  char* top() const noexcept { return bottom() + usable_; }
  /// The lowest usable byte, above the guard.
  char* bottom() const noexcept { return base_ + guard_; }
  std::size_t usable() const noexcept { return usable_; }
  /// How many bytes there are below `address`, which is on it.
  std::size_t left_below(void const* address) const noexcept {
    return static_cast<std::size_t>(static_cast<char const*>(address) - bottom());
  }
  /// Is `address` in the guard? Then a frame did not fit.
  bool overflowed_at(void const* address) const noexcept {
    auto const* const at = static_cast<char const*>(address);
    return at >= base_ && at < bottom();
  }

  /// Gives the memory of whole pages below `end` back to the system, and of those above top(), which are zero
  /// afterwards. Nothing there is in use.
  void give_back(char* end) const noexcept {
    auto const used = static_cast<std::size_t>(end - bottom()) / page_size() * page_size();
    // Refused (memory that is locked) it stays; the pages are ours, so there is no other reason.
    if (used != 0) ::madvise(bottom(), used, MADV_DONTNEED);
    if (above_ != 0) ::madvise(top(), above_, MADV_DONTNEED);
  }

 private:
  stack(char* base, std::size_t guard, std::size_t usable, std::size_t above) noexcept
      : base_{base}, guard_{guard}, usable_{usable}, above_{above} {}

  static std::size_t in_pages(std::size_t bytes) noexcept {
    std::size_t const page = page_size();
    return (bytes + page - 1) / page * page;
  }

  [[noreturn]] static void refuse(char const* what, std::size_t bytes) {
    int const why = errno;
    throw stack_error{fmt::format(
        "cannot {} a fiber stack of {} bytes: {}. Each task that waits needs one; let fewer tasks wait at a time, "
        "lower options::stack_size, or raise the limit (ulimit -v, vm.max_map_count, the memory of the container).",
        what, bytes, std::strerror(why))};
  }

  char* base_ = nullptr;
  std::size_t guard_ = 0;   // bytes from base_ on
  std::size_t usable_ = 0;  // bytes above the guard
  std::size_t above_ = 0;   // bytes from top() on
};

}  // namespace heist::detail
