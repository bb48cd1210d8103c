// operator new, which fails where a test wants it to, and counts live blocks. To be included by one file of a program.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdlib>  // aligned_alloc, malloc
#include <new>

#include "faults/fault_sites.hpp"
#include "heist/core/base/config.hpp"

namespace {

constexpr std::size_t site_new = heist_test::site_of("new");
constexpr std::size_t site_aligned_new = heist_test::site_of("aligned new");
using heist_test::forever;

std::atomic<long> live_allocations{0};

/// While it lives, `how_many` allocations of any form fail after the first `n`.
struct new_fault {
  explicit new_fault(long n, long how_many = 1) : fault_{site_new, n + 1, how_many} {}

 private:
  heist_test::fault fault_;
};

/// How many have failed since the last new_fault was made.
[[maybe_unused]] long failed_allocations() noexcept {
  return heist_test::detail::plans[site_new].failed;
}
[[maybe_unused]] void let_allocations_succeed() noexcept {
  heist_test::detail::plans[site_new].first = 0;
}

/// Both forms are counted together; which one it was is told by its site.
bool new_must_fail(bool aligned) noexcept {
  if (!aligned) return heist_test::must_fail(site_new);
  auto& sites = heist_test::board().of;
  auto& plain = heist_test::detail::plans[site_new];
  sites[site_aligned_new].reached.fetch_add(1, std::memory_order_relaxed);
  if (plain.first == 0 && plain.one_in == 0) return false;
  bool const fails = heist_test::must_fail(site_new);
  sites[site_new].reached.fetch_sub(1, std::memory_order_relaxed);
  if (fails) {
    sites[site_new].injected.fetch_sub(1, std::memory_order_relaxed);
    sites[site_aligned_new].injected.fetch_add(1, std::memory_order_relaxed);
  }
  return fails;
}

void* counted(void* at) noexcept {
  if (at != nullptr) live_allocations.fetch_add(1, std::memory_order_relaxed);
  return at;
}
void forget(void* at) noexcept {
  if (at != nullptr) live_allocations.fetch_sub(1, std::memory_order_relaxed);
  std::free(at);
}

}  // namespace

// noinline: a compiler that sees malloc() and free() through them warns of a mismatch.
HEIST_NOINLINE void* operator new(std::size_t bytes) {
  if (!new_must_fail(false)) {
    if (void* const at = counted(std::malloc(bytes == 0 ? 1 : bytes))) return at;
  }
  throw std::bad_alloc{};
}
HEIST_NOINLINE void* operator new(std::size_t bytes, std::align_val_t alignment) {
  auto const a = static_cast<std::size_t>(alignment);
  if (!new_must_fail(true)) {
    if (void* const at = counted(std::aligned_alloc(a, (bytes + a - 1) / a * a))) return at;
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
  return new_must_fail(false) ? nullptr : counted(std::malloc(bytes == 0 ? 1 : bytes));
}
HEIST_NOINLINE void* operator new[](std::size_t bytes, std::nothrow_t const&) noexcept {
  return new_must_fail(false) ? nullptr : counted(std::malloc(bytes == 0 ? 1 : bytes));
}
HEIST_NOINLINE void operator delete(void* at) noexcept {
  forget(at);
}
HEIST_NOINLINE void operator delete(void* at, std::size_t) noexcept {
  forget(at);
}
HEIST_NOINLINE void operator delete(void* at, std::align_val_t) noexcept {
  forget(at);
}
HEIST_NOINLINE void operator delete(void* at, std::size_t, std::align_val_t) noexcept {
  forget(at);
}
HEIST_NOINLINE void operator delete[](void* at) noexcept {
  forget(at);
}
HEIST_NOINLINE void operator delete[](void* at, std::size_t) noexcept {
  forget(at);
}
HEIST_NOINLINE void operator delete[](void* at, std::align_val_t) noexcept {
  forget(at);
}
HEIST_NOINLINE void operator delete[](void* at, std::size_t, std::align_val_t) noexcept {
  forget(at);
}
