// Bodies of watchdog.hpp.
#pragma once

#include "heist/observe/watchdog.hpp"

#include <charconv>  // from_chars
#include <chrono>
#include <condition_variable>
#include <cstdio>   // fprintf
#include <cstdlib>  // getenv
#include <cstring>  // strlen
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>  // move

namespace heist::detail {

struct watchdog::watching {
  watching(double limit, unique_function<look()> look_at, unique_function<std::string()> text)
      : seconds{limit}, see{std::move(look_at)}, describe{std::move(text)}, thread{std::thread{[this] { watch(); }}} {}
  watching(watching const&) = delete;
  watching& operator=(watching const&) = delete;
  ~watching() {
    {
      std::lock_guard guard{lock};
      over = true;
    }
    changed.notify_all();
    thread.join();
  }

  void watch() {
    constexpr int looks = 4;  // in the time after which it speaks
    look before = see();
    int same = 0;
    std::unique_lock guard{lock};
    while (!changed.wait_for(guard, std::chrono::duration<double>{seconds / looks}, [this] { return over; })) {
      look const now = see();
      same = now.somebody_waits && now.state == before.state ? same + 1 : 0;
      before = now;
      if (same != looks) continue;  // once, until something moves
      std::fprintf(stderr, "heist: for %g s no task has begun or ended, and something waits (HEIST_WATCHDOG):\n%s",
                   seconds, describe().c_str());
      std::fflush(stderr);
    }
  }

  double const seconds;
  unique_function<look()> see;
  unique_function<std::string()> describe;
  std::mutex lock;
  std::condition_variable changed;
  bool over = false;
  std::thread thread;  // last: it uses the rest
};

HEIST_COLD_BODY watchdog::watchdog() noexcept = default;

HEIST_COLD_BODY watchdog::~watchdog() = default;

HEIST_COLD_BODY void watchdog::start(unique_function<look()> see, unique_function<std::string()> describe) {
  double const seconds = limit();
  if (!(seconds > 0)) return;
  try {
    watching_ = std::make_unique<watching>(seconds, std::move(see), std::move(describe));
  } catch (std::system_error const& e) {
    std::fprintf(stderr, "heist: HEIST_WATCHDOG is set, but its thread cannot be started: %s\n", e.what());
  }
}

HEIST_COLD_BODY void watchdog::stop() noexcept {
  watching_.reset();
}

HEIST_COLD_BODY void watchdog::forget() noexcept {
  static_cast<void>(watching_.release());
}

HEIST_COLD_BODY double watchdog::limit() noexcept {
  char const* const text = std::getenv("HEIST_WATCHDOG");
  double seconds = 0;
  if (text == nullptr) return 0;
  if (std::from_chars(text, text + std::strlen(text), seconds).ec != std::errc{} || !(seconds >= 0)) {
    std::fprintf(stderr, "heist: HEIST_WATCHDOG is '%s'; fix it by a number of seconds\n", text);
    return 0;
  }
  return seconds;
}

}  // namespace heist::detail
