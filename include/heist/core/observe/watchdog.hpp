// HEIST_WATCHDOG=seconds: reports the waits of an executor when nothing has moved for so long.
#pragma once

#include <cstdint>
#include <string>

#include "heist/core/base/config.hpp"
#include "heist/core/base/unique_function.hpp"
#include "heist/core/base/unique_ptr.hpp"

namespace heist::detail {

/// A thread that looks now and then, only where the environment asks for it.
///
/// Threads  start() and stop() by the thread that makes and destroys the executor.
class watchdog {
 public:
  /// One observation: two equal ones in a row mean that nothing has moved.
  struct look {
    std::uint64_t state = 0;
    bool any_waiting = false;
  };

  watchdog() noexcept;
  watchdog(watchdog const&) = delete;
  watchdog& operator=(watchdog const&) = delete;
  ~watchdog();

  /// Does nothing unless HEIST_WATCHDOG is a number of seconds above 0. If it cannot start a thread, it says so and
  /// does nothing.
  void start(unique_function<look()> see, unique_function<std::string()> to_text);
  void stop() noexcept;
  /// In a child of fork(), where the thread does not exist.
  void forget() noexcept;

 private:
  /// 0 if there is none.
  static double limit() noexcept;
  struct state;
  unique_ptr<state> state_;  ///< null: no look is taken
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/observe/watchdog.ipp"
#endif
