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

  /// Maps at least `bytes` usable bytes and one guard page. Throws stack_error when the system refuses.
  static stack map(std::size_t bytes) {
    std::size_t const page = page_size();
    if (bytes > ~std::size_t{0} / 2) {  // rounding up would end at 0
      errno = ENOMEM;
      refuse("map", bytes);
    }
    std::size_t const usable = (bytes + page - 1) / page * page;
    std::size_t const all = usable + page;
    void* const at =
        ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (at == MAP_FAILED) refuse("map", all);
    stack made{static_cast<char*>(at), all};
    // A guard inside the mapping (Linux 6.13) costs no mapping of its own; mprotect splits one in two, and the
    // kernel allows some 65000 of them (vm.max_map_count).
    constexpr int install_guard = 102;  // MADV_GUARD_INSTALL
    if (::madvise(at, page, install_guard) != 0 && ::mprotect(at, page, PROT_NONE) != 0) refuse("guard", all);
    return made;
  }

  stack(stack&& other) noexcept : base_{std::exchange(other.base_, nullptr)}, size_{std::exchange(other.size_, 0)} {}
  stack& operator=(stack&& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~stack() {
    if (base_ != nullptr) ::munmap(base_, size_);
  }

  /// One past the highest usable byte; page-aligned.
  char* top() const noexcept { return base_ + size_; }
  /// The lowest usable byte, above the guard.
  char* bottom() const noexcept { return base_ + page_size(); }
  std::size_t usable() const noexcept { return size_ - page_size(); }

 private:
  stack(char* base, std::size_t size) noexcept : base_{base}, size_{size} {}

  [[noreturn]] static void refuse(char const* what, std::size_t bytes) {
    int const why = errno;
    throw stack_error{fmt::format(
        "cannot {} a fiber stack of {} bytes: {}. Each task that waits needs one; let fewer tasks wait at a time, "
        "lower "
        "options::stack_size, or raise the limit (ulimit -v, vm.max_map_count, the memory of the container).",
        what, bytes, std::strerror(why))};
  }

  char* base_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace heist::detail
