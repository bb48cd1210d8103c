// HEIST_WATCHDOG=seconds: says what waits for what when nothing has moved for so long.
#pragma once

#include <charconv>  // from_chars
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>   // fprintf
#include <cstdlib>  // getenv
#include <cstring>  // strlen
#include <functional>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>  // move

namespace heist::detail {

/// A thread that looks now and then, only where the environment asks for it.
///
/// Threads  start() and stop() by the one who makes and destroys the executor.
class watchdog {
 public:
  /// What has been seen: two equal ones in a row mean that nothing has moved.
  struct look {
    std::uint64_t state = 0;
    bool somebody_waits = false;
  };

  watchdog() = default;
  watchdog(watchdog const&) = delete;
  watchdog& operator=(watchdog const&) = delete;
  ~watchdog() { stop(); }

  /// Nothing unless HEIST_WATCHDOG is a number of seconds above 0. Without a thread it says so and does nothing.
  void start(std::function<look()> see, std::function<std::string()> describe) {
    double const seconds = limit();
    if (!(seconds > 0)) return;
    try {
      thread_ = std::thread{
          [this, seconds, see = std::move(see), describe = std::move(describe)] { watch(seconds, see, describe); }};
    } catch (std::system_error const& e) {
      std::fprintf(stderr, "heist: HEIST_WATCHDOG is set, but its thread cannot be started: %s\n", e.what());
    }
  }
  void stop() noexcept {
    if (!thread_.joinable()) return;
    {
      std::lock_guard guard{lock_};
      over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  /// In a child of fork(), where the thread does not exist.
  void forget() noexcept {
    if (thread_.joinable()) new std::thread{std::move(thread_)};
  }

 private:
  /// 0 if there is none.
  static double limit() noexcept {
    char const* const text = std::getenv("HEIST_WATCHDOG");
    double seconds = 0;
    if (text == nullptr) return 0;
    if (std::from_chars(text, text + std::strlen(text), seconds).ec != std::errc{} || !(seconds >= 0)) {
      std::fprintf(stderr, "heist: HEIST_WATCHDOG is '%s'; mend it by a number of seconds\n", text);
      return 0;
    }
    return seconds;
  }

  void watch(double seconds, std::function<look()> const& see, std::function<std::string()> const& describe) {
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

  std::mutex lock_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace heist::detail
