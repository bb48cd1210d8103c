// Reports that a task overflows its fiber's stack, before the program ends by SIGSEGV as it would anyway.
#pragma once

#include <signal.h>  // sigaction

#include <cstddef>  // size_t

#include "heist/core/base/config.hpp"
#include "heist/core/memory/stack.hpp"

namespace heist::detail {

/// The handler of the process. The first executor that has guard pages installs it. It stays, and so does the shared
/// library that contains it, if any. It calls the previous handler for every fault that is not an overflow. The
/// sanitizers report overflows themselves: under them it is not installed.
class overflow_report {
 public:
  /// `here` returns the stack of the fiber that the calling thread runs on, null outside of fibers; a signal handler
  /// calls it.
  static void install(stack const* (*here)() noexcept) noexcept;

 private:
  static struct sigaction& previous() noexcept;
  static stack const* (*&stack_here() noexcept)() noexcept;

  /// dlclose() of the library would leave the process with a handler that is gone.
  static void keep_loaded() noexcept;

  /// Calls only functions that a signal handler may call.
  static void handle(int signal, siginfo_t* info, void* context);
  static void say(std::size_t bytes) noexcept;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/fiber/overflow_report.ipp"
#endif
