// Stands for core/executor/timed_wait.hpp: no wait here has a time limit.
#pragma once

#include <cstdint>
#include <thread>  // std::chrono

#include "heist/core/executor/circular_wait.hpp"

namespace heist::detail {

struct awaited_end {
  completion& end;
  os_env::atomic<std::uint8_t>& marks;
  unsigned generation;
  wait_reason why;
  stop_target to;
};
bool wait_until_done(awaited_end const& of, std::chrono::steady_clock::time_point when);
std::chrono::steady_clock::time_point later_by(std::chrono::nanoseconds time) noexcept;

}  // namespace heist::detail
