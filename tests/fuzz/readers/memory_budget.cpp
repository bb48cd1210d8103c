// The program's operator new and delete, which count.
#include "memory_budget.hpp"

#include <malloc.h>  // malloc_usable_size

#include <cstdint>
#include <cstdlib>  // malloc, aligned_alloc, free
#include <limits>
#include <new>

namespace {

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

// Of this thread: the fuzzers' own threads do not count. Negative when it frees memory that another thread has
// allocated.
thread_local std::int64_t live = 0;
thread_local std::int64_t limit = no_limit;
thread_local bool was_exceeded = false;

void* counted(std::size_t size, std::size_t alignment) noexcept {
  constexpr std::size_t most = std::size_t{1} << 40;
  if (size > most || live + static_cast<std::int64_t>(size) > limit) {
    was_exceeded = true;
    return nullptr;
  }
  std::size_t const whole = (size + alignment) / alignment * alignment;
  void* const p = alignment == 0                           ? nullptr
                  : alignment <= alignof(std::max_align_t) ? std::malloc(size == 0 ? 1 : size)
                                                           : std::aligned_alloc(alignment, whole);
  if (p != nullptr) live += static_cast<std::int64_t>(::malloc_usable_size(p));
  return p;
}
void* counted_or_throw(std::size_t size, std::size_t alignment) {
  if (void* const p = counted(size, alignment)) return p;
  throw std::bad_alloc();
}
void release(void* p) noexcept {
  if (p == nullptr) return;
  live -= static_cast<std::int64_t>(::malloc_usable_size(p));
  std::free(p);
}

constexpr std::size_t usual = alignof(std::max_align_t);

}  // namespace

namespace fuzz {

memory_budget::memory_budget(std::size_t most) noexcept {
  was_exceeded = false;
  limit = live + static_cast<std::int64_t>(most);
}
memory_budget::~memory_budget() {
  limit = no_limit;
}
bool memory_budget::exceeded() const noexcept {
  return was_exceeded;
}

}  // namespace fuzz

void* operator new(std::size_t n) {
  return counted_or_throw(n, usual);
}
void* operator new[](std::size_t n) {
  return counted_or_throw(n, usual);
}
void* operator new(std::size_t n, std::nothrow_t const&) noexcept {
  return counted(n, usual);
}
void* operator new[](std::size_t n, std::nothrow_t const&) noexcept {
  return counted(n, usual);
}
void* operator new(std::size_t n, std::align_val_t a) {
  return counted_or_throw(n, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t n, std::align_val_t a) {
  return counted_or_throw(n, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept {
  release(p);
}
void operator delete[](void* p) noexcept {
  release(p);
}
void operator delete(void* p, std::size_t) noexcept {
  release(p);
}
void operator delete[](void* p, std::size_t) noexcept {
  release(p);
}
void operator delete(void* p, std::nothrow_t const&) noexcept {
  release(p);
}
void operator delete[](void* p, std::nothrow_t const&) noexcept {
  release(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  release(p);
}
void operator delete[](void* p, std::align_val_t) noexcept {
  release(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  release(p);
}
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
  release(p);
}
