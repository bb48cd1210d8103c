// operator new, which fails where a test wants it to. To be included by one file of a program.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdlib>  // aligned_alloc, malloc
#include <new>

#include "heist/base/config.hpp"

namespace {

std::atomic<long> until_failure{-1};  ///< -1: never
std::atomic<long> failures_left{0};   ///< how many in a row
std::atomic<long> failed{0};

bool must_fail() noexcept {
  if (until_failure.load(std::memory_order_relaxed) < 0) return false;
  if (until_failure.fetch_sub(1) > 0) return false;
  if (failures_left.fetch_sub(1) > 0) {
    until_failure = 0;
    ++failed;
    return true;
  }
  until_failure = -1;
  return false;
}

/// While it lives, `how_many` allocations fail after the first `n`.
struct fault {
  explicit fault(long n, long how_many = 1) {
    failed = 0;
    failures_left = how_many;
    until_failure = n;
  }
  ~fault() { until_failure = -1; }
};
constexpr long for_ever = 1L << 40;

}  // namespace

// Not inlined: a compiler that sees malloc() and free() through them warns of a mismatch.
HEIST_NOINLINE void* operator new(std::size_t bytes) {
  if (!must_fail()) {
    if (void* const at = std::malloc(bytes == 0 ? 1 : bytes)) return at;
  }
  throw std::bad_alloc{};
}
HEIST_NOINLINE void* operator new(std::size_t bytes, std::align_val_t alignment) {
  auto const a = static_cast<std::size_t>(alignment);
  if (!must_fail()) {
    if (void* const at = std::aligned_alloc(a, (bytes + a - 1) / a * a)) return at;
  }
  throw std::bad_alloc{};
}
HEIST_NOINLINE void* operator new[](std::size_t bytes) {
  return ::operator new(bytes);
}
HEIST_NOINLINE void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return ::operator new(bytes, alignment);
}
HEIST_NOINLINE void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
  return must_fail() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}
HEIST_NOINLINE void* operator new[](std::size_t bytes, std::nothrow_t const&) noexcept {
  return must_fail() ? nullptr : std::malloc(bytes == 0 ? 1 : bytes);
}
HEIST_NOINLINE void operator delete(void* at) noexcept {
  std::free(at);
}
HEIST_NOINLINE void operator delete(void* at, std::size_t) noexcept {
  std::free(at);
}
HEIST_NOINLINE void operator delete(void* at, std::align_val_t) noexcept {
  std::free(at);
}
HEIST_NOINLINE void operator delete(void* at, std::size_t, std::align_val_t) noexcept {
  std::free(at);
}
HEIST_NOINLINE void operator delete[](void* at) noexcept {
  std::free(at);
}
HEIST_NOINLINE void operator delete[](void* at, std::size_t) noexcept {
  std::free(at);
}
HEIST_NOINLINE void operator delete[](void* at, std::align_val_t) noexcept {
  std::free(at);
}
HEIST_NOINLINE void operator delete[](void* at, std::size_t, std::align_val_t) noexcept {
  std::free(at);
}
