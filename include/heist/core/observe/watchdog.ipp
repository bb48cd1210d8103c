// Bodies of watchdog.hpp.
#pragma once

#include "heist/core/observe/watchdog.hpp"

#include <pthread.h>  // pthread_setname_np

#include <cstdint>
#include <cstdio>  // fprintf
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>  // move

#include "heist/core/base/environment.hpp"
#include "heist/core/base/park_word.hpp"
#include "heist/core/base/unique_ptr.hpp"

namespace heist::detail {

struct watchdog::state {
  state(double limit, unique_function<look()> look_at, unique_function<std::string()> text)
      : seconds{limit}, see{std::move(look_at)}, to_text{std::move(text)}, thread{std::thread{[this] { watch(); }}} {}
  state(state const&) = delete;
  state& operator=(state const&) = delete;
  ~state() {
    over.store(1, std::memory_order_release);  // release: pairs with the load in is_over()
    over.wake_one();
    thread.join();
  }

  /// Sleeps until it is over, or for the time between two looks.
  bool is_over() noexcept {
    constexpr double nanoseconds = 1e9;
    auto const pause = static_cast<std::int64_t>(seconds / looks * nanoseconds);
    while (over.load(std::memory_order_acquire) == 0) {  // acquire: pairs with the destructor
      if (over.wait_for(0, pause)) return false;
    }
    return true;
  }

  void watch() {
    ::pthread_setname_np(::pthread_self(), "heist-watchdog");
    look before = see();
    int same = 0;
    while (!is_over()) {
      look const now = see();
      same = now.any_waiting && now.state == before.state ? same + 1 : 0;
      before = now;
      if (same != looks) continue;  // once, until something moves
      std::fprintf(stderr, "heist: for %g s no task has begun or ended, and something waits (HEIST_WATCHDOG):\n%s",
                   seconds, to_text().c_str());
      std::fflush(stderr);
    }
  }

  static constexpr int looks = 4;  // in the time after which it speaks

  double const seconds;
  unique_function<look()> see;
  unique_function<std::string()> to_text;
  park_word over;
  std::thread thread;  // last: it uses the rest
};

HEIST_COLD_BODY watchdog::watchdog() noexcept = default;

HEIST_COLD_BODY watchdog::~watchdog() = default;

HEIST_COLD_BODY void watchdog::start(unique_function<look()> see, unique_function<std::string()> to_text) {
  double const seconds = limit();
  if (!(seconds > 0)) return;
  try {
    state_ = make_unique<state>(seconds, std::move(see), std::move(to_text));
  } catch (std::system_error const& e) {
    std::fprintf(stderr, "heist: HEIST_WATCHDOG is set, but its thread cannot be started: %s\n", e.what());
  }
}

HEIST_COLD_BODY void watchdog::stop() noexcept {
  state_.reset();
}

HEIST_COLD_BODY void watchdog::forget() noexcept {
  static_cast<void>(state_.release());
}

HEIST_COLD_BODY double watchdog::limit() noexcept {
  if (environment_text(variable::watchdog) == "0") return 0;
  return number_in_environment(variable::watchdog, 0.001, 1e6, 0);
}

}  // namespace heist::detail
