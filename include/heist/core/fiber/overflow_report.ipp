// Bodies of overflow_report.hpp.
#pragma once

#include "heist/core/fiber/overflow_report.hpp"

#include <dlfcn.h>   // dladdr, dlopen
#include <unistd.h>  // write

#include <cstdlib>  // abort
#include <string_view>

#include "heist/core/base/format.hpp"

namespace heist::detail {

HEIST_COLD_BODY void overflow_report::install(stack const* (*here)() noexcept) noexcept {
  if constexpr (!under_asan && !under_tsan) {
    static bool const installed = [here] {
      stack_here() = here;
      struct sigaction wanted {};
      wanted.sa_sigaction = &handle;
      wanted.sa_flags = SA_SIGINFO | SA_ONSTACK;
      ::sigemptyset(&wanted.sa_mask);
      keep_loaded();
      return ::sigaction(SIGSEGV, &wanted, &previous()) == 0;
    }();
    static_cast<void>(installed);
  }
}

HEIST_COLD_BODY struct sigaction& overflow_report::previous() noexcept {
  static struct sigaction before {};
  return before;
}

HEIST_COLD_BODY stack const* (*&overflow_report::stack_here() noexcept)() noexcept {
  static stack const* (*here)() noexcept = nullptr;
  return here;
}

HEIST_COLD_BODY void overflow_report::keep_loaded() noexcept {
  Dl_info mine{};
  auto const here = reinterpret_cast<void*>(&handle);
  if (::dladdr(here, &mine) != 0 && mine.dli_fname != nullptr)
    static_cast<void>(::dlopen(mine.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE));
}

HEIST_COLD_BODY void overflow_report::handle(int signal, siginfo_t* info, void* context) {
  stack const* const here = stack_here()();
  if (here != nullptr && here->overflowed_at(info->si_addr)) {
    say(here->usable());
  } else if ((previous().sa_flags & SA_SIGINFO) != 0) {
    previous().sa_sigaction(signal, info, context);
    return;
  } else if (previous().sa_handler != SIG_DFL && previous().sa_handler != SIG_IGN) {
    previous().sa_handler(signal);
    return;
  }
  struct sigaction ends {};
  ends.sa_handler = SIG_DFL;
  // The instruction is repeated, and ends the program; without the default action it would come here for ever.
  if (::sigaction(SIGSEGV, &ends, nullptr) != 0) std::abort();
}

HEIST_COLD_BODY void overflow_report::say(std::size_t bytes) noexcept {
  constexpr std::string_view before = "heist: a task has overflowed its fiber's stack of ",
                             after =
                                 " bytes. Fix it by raising options::stack_size, or by smaller frames or less "
                                 "recursion in the task.\n";
  constexpr std::size_t most_digits = 20;
  char text[before.size() + most_digits + after.size()];
  char* const after_digits = text + before.size() + most_digits;
  after.copy(after_digits, after.size());
  char* const begin = write_digits(bytes, after_digits) - before.size();
  before.copy(begin, before.size());
  [[maybe_unused]] auto const written =
      ::write(STDERR_FILENO, begin, static_cast<std::size_t>(after_digits + after.size() - begin));
}

}  // namespace heist::detail
