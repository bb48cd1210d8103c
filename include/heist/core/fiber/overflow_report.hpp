// Says what happened when a task overflows its fiber's stack, before the program ends by SIGSEGV as it would anyway.
#pragma once

#include <signal.h>  // sigaction

#include <cstddef>  // size_t

#include "heist/core/base/config.hpp"
#include "heist/core/memory/stack.hpp"

namespace heist::detail {

/// The handler of the process. Installed with the first executor that has guard pages, it stays, and so does the shared
/// library that it lies in, if it does; what was there before is called for every fault that is not an overflow. Not
/// under the sanitizers, which report overflows themselves.
class overflow_report {
 public:
  /// `here` returns the stack of the fiber that the calling thread runs on, null outside of fibers; a signal handler
  /// calls it.
  static void install(stack const* (*here)() noexcept) noexcept;

 private:
  static struct sigaction& previous() noexcept;
  static stack const* (*&stack_here() noexcept)() noexcept;

  /// dlclose() of the library would leave the process with a handler that is gone.
  static void stay_loaded() noexcept;

  /// Calls only what a signal handler may.
  static void handle(int signal, siginfo_t* info, void* context);
  static void say(std::size_t bytes) noexcept;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/fiber/overflow_report.ipp"
#endif
