// Bodies of core_trim.hpp.
#pragma once

#include "heist/core/scheduler/core_trim.hpp"

#include "heist/core/base/large_memory.hpp"

namespace heist::detail {

HEIST_COLD_BODY bool core::begin_trim(bool again) noexcept {
  // relaxed: hints. Large blocks go once in a sleep: other threads may use some all the time.
  if (used_chains_.load(std::memory_order_relaxed) <= worker_count && !freelist.has_too_much() &&
      (again || !large_memory::has_any()))
    return false;
  if (trim_claimed_.load(std::memory_order_relaxed)) return false;  // relaxed: as above
  return !trim_claimed_.exchange(true, std::memory_order_relaxed);  // relaxed: a claim, no data
}

HEIST_COLD_BODY void core::end_trim() noexcept {
  trim_claimed_.store(false, std::memory_order_relaxed);  // relaxed: as above
}

}  // namespace heist::detail
