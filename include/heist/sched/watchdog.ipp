// Bodies of watchdog.hpp.
#pragma once

#include "heist/sched/watchdog.hpp"

#include <charconv>  // from_chars
#include <chrono>
#include <cstdio>   // fprintf
#include <cstdlib>  // getenv
#include <cstring>  // strlen
#include <system_error>
#include <utility>  // move

namespace heist::detail {

HEIST_COLD_BODY void watchdog::start(unique_function<look()> see, unique_function<std::string()> describe) {
  double const seconds = limit();
  if (!(seconds > 0)) return;
  try {
    thread_ = std::thread{[this, seconds, see = std::move(see), describe = std::move(describe)]() mutable {
      watch(seconds, see, describe);
    }};
  } catch (std::system_error const& e) {
    std::fprintf(stderr, "heist: HEIST_WATCHDOG is set, but its thread cannot be started: %s\n", e.what());
  }
}

HEIST_COLD_BODY void watchdog::stop() noexcept {
  if (!thread_.joinable()) return;
  {
    std::lock_guard guard{lock_};
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

HEIST_COLD_BODY void watchdog::forget() noexcept {
  if (thread_.joinable()) new std::thread{std::move(thread_)};
}

HEIST_COLD_BODY double watchdog::limit() noexcept {
  char const* const text = std::getenv("HEIST_WATCHDOG");
  double seconds = 0;
  if (text == nullptr) return 0;
  if (std::from_chars(text, text + std::strlen(text), seconds).ec != std::errc{} || !(seconds >= 0)) {
    std::fprintf(stderr, "heist: HEIST_WATCHDOG is '%s'; mend it by a number of seconds\n", text);
    return 0;
  }
  return seconds;
}

HEIST_COLD_BODY void watchdog::watch(double seconds, unique_function<look()>& see,
                                     unique_function<std::string()>& describe) {
  constexpr int looks = 4;  // in the time after which it speaks
  look before = see();
  int same = 0;
  std::unique_lock guard{lock_};
  while (!changed_.wait_for(guard, std::chrono::duration<double>{seconds / looks}, [this] { return over_; })) {
    look const now = see();
    same = now.somebody_waits && now.state == before.state ? same + 1 : 0;
    before = now;
    if (same != looks) continue;  // once, until something moves
    std::fprintf(stderr, "heist: for %g s no task has begun or ended, and something waits (HEIST_WATCHDOG):\n%s",
                 seconds, describe().c_str());
    std::fflush(stderr);
  }
}

}  // namespace heist::detail
