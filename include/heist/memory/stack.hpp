// Stacks for fibers: mapped memory with a guard page below, so that an overflow stops the program where it happens.
#pragma once

#include <fmt/format.h>
#include <sys/mman.h>  // mmap, mprotect, madvise
#include <unistd.h>    // sysconf

#include <cerrno>
#include <cstddef>
#include <cstring>  // strerror
#include <utility>  // exchange

#include "heist/base/errors.hpp"

namespace heist::detail {

inline std::size_t page_size() noexcept {
  static std::size_t const size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

/// Memory for one fiber; grows down from top(). Movable, owns its mapping.
class stack {
 public:
  stack() = default;

  /// Maps at least `bytes` usable bytes with a guard page below, if wanted, and `above` bytes above, zeroed. Throws
  /// stack_error when the system refuses.
  static stack map(std::size_t bytes, std::size_t above = 0, bool guard = true) {
    std::size_t const page = page_size();
    if (bytes > ~std::size_t{0} / 4) {  // rounding up would end at 0
      errno = ENOMEM;
      refuse("map", bytes);
    }
    std::size_t const usable = (bytes + page - 1) / page * page;
    above = (above + page - 1) / page * page;
    std::size_t const all = usable + page + above;
    void* const at =
        ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (at == MAP_FAILED) refuse("map", all);
    stack made{static_cast<char*>(at), usable + page, above, guard};
    if (!guard) return made;
    // A guard inside the mapping (Linux 6.13) costs no mapping of its own; mprotect splits one in two, and the
    // kernel allows some 65000 of them (vm.max_map_count).
    constexpr int install_guard = 102;  // MADV_GUARD_INSTALL
    if (::madvise(at, page, install_guard) != 0 && ::mprotect(at, page, PROT_NONE) != 0) refuse("guard", all);
    return made;
  }

  stack(stack&& other) noexcept
      : base_{std::exchange(other.base_, nullptr)},
        size_{std::exchange(other.size_, 0)},
        above_{std::exchange(other.above_, 0)},
        guarded_{other.guarded_} {}
  stack& operator=(stack&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(size_, other.size_);
    std::swap(above_, other.above_);
    std::swap(guarded_, other.guarded_);
    return *this;
  }
  ~stack() {
    if (base_ != nullptr) ::munmap(base_, size_ + above_);
  }

  /// One past the highest usable byte; page-aligned.
  char* top() const noexcept { return base_ + size_; }
  /// The lowest usable byte, above the guard.
  char* bottom() const noexcept { return base_ + page_size(); }
  std::size_t usable() const noexcept { return size_ - page_size(); }
  /// Is `address` in the guard page? Then a frame did not fit.
  bool overflowed_at(void const* address) const noexcept {
    auto const* const at = static_cast<char const*>(address);
    return guarded_ && at >= base_ && at < bottom();
  }

 private:
  stack(char* base, std::size_t size, std::size_t above, bool guarded) noexcept
      : base_{base}, size_{size}, above_{above}, guarded_{guarded} {}

  [[noreturn]] static void refuse(char const* what, std::size_t bytes) {
    int const why = errno;
    throw stack_error{fmt::format(
        "cannot {} a fiber stack of {} bytes: {}. Each task that waits needs one; let fewer tasks wait at a time, "
        "lower "
        "options::stack_size, or raise the limit (ulimit -v, vm.max_map_count, the memory of the container).",
        what, bytes, std::strerror(why))};
  }

  char* base_ = nullptr;
  std::size_t size_ = 0;   // with the guard
  std::size_t above_ = 0;  // bytes from top() on
  bool guarded_ = false;
};

}  // namespace heist::detail
