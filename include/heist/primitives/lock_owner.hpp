// The owner of a lock is an address of the stack that locked it. So no fiber and no thread has to be looked up.
#pragma once

#include <cstdint>

#include "heist/base/config.hpp"
#include "heist/sync/owned_lock.hpp"

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
bool is_owner_elsewhere(std::uintptr_t owner) noexcept;
/// Looking for a lock is of no use where nobody else can run.
bool is_alone() noexcept;

/// Throws resource_deadlock_would_occur.
[[noreturn]] void throw_waits_for_itself(char const* sentence);

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/primitives/lock_owner.ipp"
#endif
