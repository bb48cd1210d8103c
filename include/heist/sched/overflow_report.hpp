// Says what happened when a task overflows its fiber's stack, before the program ends by SIGSEGV as it would anyway.
#pragma once

#include <fmt/format.h>
#include <signal.h>  // sigaction
#include <unistd.h>  // write

#include <cstddef>  // size_t

#include "heist/base/config.hpp"
#include "heist/sched/current.hpp"
#include "heist/sched/fiber.hpp"
#include "heist/sched/worker.hpp"

namespace heist::detail {

/// The handler of the process. Installed with the first executor that has guard pages, it stays; what was there before
/// is called for every fault that is not an overflow. Not under the sanitizers, which report overflows themselves.
class overflow_report {
 public:
  static void install() noexcept {
    if constexpr (!under_asan && !under_tsan) {
      static bool const installed = [] {
        struct sigaction wanted {};
        wanted.sa_sigaction = &handle;
        wanted.sa_flags = SA_SIGINFO | SA_ONSTACK;
        ::sigemptyset(&wanted.sa_mask);
        return ::sigaction(SIGSEGV, &wanted, &previous()) == 0;
      }();
      static_cast<void>(installed);
    }
  }

 private:
  static struct sigaction& previous() noexcept {
    static struct sigaction before {};
    return before;
  }

  /// Calls only what a signal handler may.
  static void handle(int signal, siginfo_t* info, void* context) {
    worker* const w = worker_of_this_thread;
    fiber* const f = w == nullptr ? nullptr : w->current.load(std::memory_order_relaxed);  // relaxed: its own
    if (f != nullptr && f->own_flow().memory().overflowed_at(info->si_addr)) {
      say(f->own_flow().memory().usable());
    } else if ((previous().sa_flags & SA_SIGINFO) != 0) {
      previous().sa_sigaction(signal, info, context);
      return;
    } else if (previous().sa_handler != SIG_DFL && previous().sa_handler != SIG_IGN) {
      previous().sa_handler(signal);
      return;
    }
    struct sigaction ends {};
    ends.sa_handler = SIG_DFL;
    ::sigaction(SIGSEGV, &ends, nullptr);  // the instruction is repeated, and ends the program
  }

  static void say(std::size_t bytes) noexcept {
    char text[256];
    auto const end = fmt::format_to_n(text, sizeof text,
                                      "heist: a task has overflowed its fiber's stack of {} bytes. Mend it by raising "
                                      "options::stack_size, or by smaller frames or less recursion in the task.\n",
                                      bytes);
    std::size_t const length = end.size < sizeof text ? end.size : sizeof text;
    [[maybe_unused]] auto const written = ::write(STDERR_FILENO, text, length);
  }
};

}  // namespace heist::detail
