// The owner of a lock is an address of the stack that locked it. So no fiber and no thread has to be looked up.
#pragma once

#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/sync/owned_lock.hpp"

namespace heist::detail {

/// The owner, where a coroutine has it: its stack changes.
inline constexpr std::uintptr_t owned_by_coroutine = 4;

/// The calling code as an owner.
inline std::uintptr_t this_owner() noexcept {
  return stack_address() & ~owned_lock<>::marks;
}

/// Is it the calling task or thread? Coroutines are not known.
bool is_owner_here(std::uintptr_t owner) noexcept;
/// Is it for certain another task or thread than the calling task?
bool is_owner_remote(std::uintptr_t owner) noexcept;
/// The calling task's worker is the only one, so the lock cannot become free meanwhile.
bool is_alone() noexcept;

/// Looks at a lock before its caller waits in line. `attempt()` returns true if it has taken the lock. It looks seldom
/// at first: each look takes the lock's cache line from its owner. Then it looks often: a task that parks lets another
/// task begin, which may want the lock, too.
template <class Lock, class Attempt>
bool spin_for(Lock const& lock, Attempt&& attempt) noexcept {
  if (is_alone()) return false;
  for (int n = 16; n != 256 && lock.frees_soon(); n *= 2) {
    for (int i = 0; i != n; ++i) os_env::relax();
    if (attempt()) return true;
  }
  for (int i = 0; i != 512 && lock.frees_soon(); ++i) {
    os_env::relax();
    if (attempt()) return true;
  }
  return false;
}

/// Throws resource_deadlock_would_occur.
[[noreturn]] void throw_waits_for_itself(char const* message);

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/parallel/primitives/lock_owner.ipp"
#endif
