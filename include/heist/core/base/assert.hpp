// HEIST_ASSERT: an invariant of ours, checked in debug builds. Broken means a bug in heist, so it aborts.
#pragma once

#include <cstdio>   // fprintf
#include <cstdlib>  // abort

namespace heist::detail {

[[noreturn]] inline void fatal(char const* file, int line, char const* what) noexcept {
  std::fprintf(stderr, "heist: %s:%d: %s\n", file, line, what);
  std::fflush(stderr);
  std::abort();
}

}  // namespace heist::detail

/// Ends the program with a sentence, in every build: for misuse that cannot be reported by an exception.
#define HEIST_FATAL(what) ::heist::detail::fatal(__FILE__, __LINE__, what)

/// HEIST_CHECKS: what a program does wrong is looked for also where that costs something; it adds code, and changes no
/// type. Debug builds do.
#if !defined(NDEBUG) || defined(HEIST_CHECKS)
#define HEIST_CHECKED 1
#else
#define HEIST_CHECKED 0
#endif

#ifdef NDEBUG
#define HEIST_ASSERT(condition, what) static_cast<void>(0)
#else
#define HEIST_ASSERT(condition, what) \
  ((condition) ? static_cast<void>(0) : ::heist::detail::fatal(__FILE__, __LINE__, what))
#endif
