// C++ keeps the exceptions being handled per thread; a fiber that moves takes its own along.
#pragma once

#include <cxxabi.h>  // __cxa_get_globals

#include "heist/core/base/config.hpp"

#if !defined(__GLIBCXX__)
// libc++abi has it and does not declare it.
namespace __cxxabiv1 {
struct __cxa_eh_globals;
extern "C" __cxa_eh_globals* __cxa_get_globals() noexcept;
}  // namespace __cxxabiv1
#endif

namespace heist::detail {

/// The state that the Itanium C++ ABI keeps per thread: the stack of caught exceptions and the number of uncaught ones.
/// Boost.Context before 1.88 does not save it, and a fiber suspended in a catch block would rethrow the exception of
/// another fiber.
struct exception_state {
  void* caught = nullptr;
  unsigned uncaught = 0;
};

/// Puts `incoming` in the place of the calling thread's state, which it returns. Never inlined: __cxa_get_globals is
/// declared const, so a compiler may otherwise reuse the address of the thread that the fiber ran on before.
HEIST_NOINLINE inline exception_state exchange_exception_state(exception_state const& incoming) noexcept {
  asm volatile("" ::: "memory");
  auto* const mine = reinterpret_cast<exception_state*>(abi::__cxa_get_globals());
  exception_state const outgoing = *mine;
  *mine = incoming;
  return outgoing;
}

/// Does the calling thread handle an exception, or is one on its way?
HEIST_NOINLINE inline bool handles_exception() noexcept {
  asm volatile("" ::: "memory");
  auto const* const mine = reinterpret_cast<exception_state const*>(abi::__cxa_get_globals());
  return mine->caught != nullptr || mine->uncaught != 0;
}

}  // namespace heist::detail
