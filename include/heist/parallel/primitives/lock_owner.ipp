// Bodies of lock_owner.hpp.
#pragma once

#include "heist/parallel/primitives/lock_owner.hpp"

#include <pthread.h>  // pthread_getattr_np

#include <cstddef>  // size_t
#include <system_error>

#include "heist/core/executor/no_migrate.hpp"
#include "heist/core/scheduler/fiber.hpp"
#include "heist/core/scheduler/worker.hpp"

namespace heist::detail {

/// Is it an address of the calling thread's stack?
HEIST_COLD_BODY bool on_stack_of_thread(std::uintptr_t address) noexcept {
  pthread_attr_t about;
  if (::pthread_getattr_np(::pthread_self(), &about) != 0) return false;
  void* bottom = nullptr;
  std::size_t bytes = 0;
  bool const known = ::pthread_attr_getstack(&about, &bottom, &bytes) == 0;
  ::pthread_attr_destroy(&about);
  return known && address - reinterpret_cast<std::uintptr_t>(bottom) < bytes;
}

HEIST_COLD_BODY bool is_owner_here(std::uintptr_t owner) noexcept {
  if (owner <= owned_by_coroutine) return false;
  if (fiber const* const self = this_fiber(); self != nullptr)
    return self->has_in_memory(stack_address()) && self->has_in_memory(owner);
  // Looking up a stack costs some microseconds: only where it may be this one.
  constexpr std::uintptr_t far = std::uintptr_t{64} << 20;
  return stack_address() - owner + far < 2 * far && on_stack_of_thread(owner);
}

HEIST_COLD_BODY bool is_owner_remote(std::uintptr_t owner) noexcept {
  fiber const* const self = this_fiber();
  if (self == nullptr || owner == owned_by_coroutine || self->worker->has_helper) return false;
  // Code on a stack that is not heist's may have locked it on another one.
  return self->has_in_memory(stack_address()) && !self->has_in_memory(owner);
}

HEIST_COLD_BODY bool is_alone() noexcept {
  fiber const* const self = this_fiber();
  return self != nullptr && self->worker->alone;
}

HEIST_COLD_BODY void throw_waits_for_itself(char const* message) {
  throw std::system_error{std::make_error_code(std::errc::resource_deadlock_would_occur), message};
}

}  // namespace heist::detail
