// Bodies of stack.hpp.
#pragma once

#include "heist/core/memory/stack.hpp"

#include <sys/mman.h>  // mmap, mprotect, madvise
#include <unistd.h>    // sysconf
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>  // VALGRIND_STACK_REGISTER, nothing under NVALGRIND
#endif

#include <cerrno>
#include <cstdint>
#include <cstring>  // strerror

#include "heist/core/base/errors.hpp"
#include "heist/core/base/format.hpp"

namespace heist::detail {

HEIST_COLD_BODY std::size_t page_size() noexcept {
  static std::size_t const size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

HEIST_COLD_BODY void give_pages_back(void* from, std::size_t bytes) noexcept {
  std::size_t const page = page_size();
  auto const at = reinterpret_cast<std::uintptr_t>(from);
  auto const begin = (at + page - 1) / page * page, end = (at + bytes) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

HEIST_COLD_BODY stack stack::map(std::size_t bytes, std::size_t above, std::size_t guard) {
  constexpr std::size_t most = ~std::size_t{0} / 4;  // rounding up would end at 0
  if (bytes > most || above > most || guard > most) {
    errno = ENOMEM;
    reject("map", bytes > most ? bytes : above > most ? above : guard);
  }
  std::size_t const usable = in_pages(bytes);
  above = in_pages(above);
  guard = in_pages(guard);
  std::size_t const all = guard + usable + above;
  void* const at =
      ::mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (at == MAP_FAILED) reject("map", all);
  stack made{static_cast<char*>(at), guard, usable, above};
  if (guard == 0) return made;
  // A guard inside the mapping (Linux 6.13) costs no mapping of its own. mprotect splits one in two, and the kernel
  // allows some 65000 of them (vm.max_map_count).
  constexpr int install_guard = 102;  // MADV_GUARD_INSTALL
  if (::madvise(at, guard, install_guard) != 0 && ::mprotect(at, guard, PROT_NONE) != 0) reject("guard", all);
  return made;
}

/// valgrind takes a switch to memory that it does not know as a stack for a frame of that size.
HEIST_COLD_BODY stack::stack(char* base, std::size_t guard, std::size_t usable, std::size_t above) noexcept
    : base_{base}, guard_{guard}, usable_{usable}, above_{above} {
#if defined(VALGRIND_STACK_REGISTER)
  valgrind_number_ = VALGRIND_STACK_REGISTER(bottom(), top());
#endif
}

HEIST_COLD_BODY stack& stack::operator=(stack&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(guard_, other.guard_);
  std::swap(usable_, other.usable_);
  std::swap(above_, other.above_);
  std::swap(valgrind_number_, other.valgrind_number_);
  return *this;
}

HEIST_COLD_BODY stack::~stack() {
  if (base_ == nullptr) return;
#if defined(VALGRIND_STACK_REGISTER)
  VALGRIND_STACK_DEREGISTER(valgrind_number_);
#endif
  ::munmap(base_, guard_ + usable_ + above_);
}

HEIST_COLD_BODY std::size_t stack::left_below(void const* address) const noexcept {
  return static_cast<std::size_t>(static_cast<char const*>(address) - bottom());
}

HEIST_COLD_BODY bool stack::overflowed_at(void const* address) const noexcept {
  auto const* const at = static_cast<char const*>(address);
  return at >= base_ && at < bottom();
}

HEIST_COLD_BODY void stack::give_back(char* end) const noexcept {
  auto const used = static_cast<std::size_t>(end - bottom()) / page_size() * page_size();
  // Refused (memory that is locked) it stays; the pages are ours, so there is no other reason.
  if (used != 0) ::madvise(bottom(), used, MADV_DONTNEED);
  if (above_ != 0) ::madvise(top(), above_, MADV_DONTNEED);
}

HEIST_COLD_BODY std::size_t stack::in_pages(std::size_t bytes) noexcept {
  std::size_t const page = page_size();
  return (bytes + page - 1) / page * page;
}

HEIST_COLD_BODY void stack::reject(char const* what, std::size_t bytes) {
  int const why = errno;
  throw stack_error{format_text(
      "cannot {} a fiber stack of {} bytes: {}. Each task that waits needs one; let fewer tasks wait at a time, "
      "lower options::stack_size, or raise the limit (ulimit -v, -d, -l, vm.max_map_count, the memory of the "
      "container).",
      {what, bytes, std::strerror(why)})};
}

}  // namespace heist::detail
