// Bodies of refusal.hpp.
#pragma once

#include "heist/core/scheduler/refusal.hpp"

#include <algorithm>  // max, min
#include <cstdio>     // fprintf

#include "heist/core/scheduler/display.hpp"

namespace heist::detail {

HEIST_COLD_BODY void attempt::ask_for_less(error const& why) {
  constexpr std::size_t smallest_stack = std::size_t{64} << 10;
  constexpr std::size_t few_fibers = 1024;
  auto const* const threads = dynamic_cast<thread_refused const*>(&why);
  char const* what = nullptr;
  if (threads != nullptr && threads->started != 0 && options.workers == 0) {
    what = "fewer workers than it wants, since the system refuses threads";
    workers = threads->started;
    made_with_less::workers.store(workers, std::memory_order_relaxed);  // relaxed: for people
  } else if (dynamic_cast<stack_error const*>(&why) != nullptr && options.stack_size == 0) {
    std::size_t const before = stack_size != 0 ? stack_size : stack_size_left_open();
    if (before <= smallest_stack) throw;
    what = "smaller stacks for its tasks than it wants, since the system refuses memory";
    stack_size = std::max(before / 2, smallest_stack);
    made_with_less::stack_size.store(stack_size, std::memory_order_relaxed);  // relaxed: for people
    // Each worker has a table of as many entries.
    if (options.max_fibers == 0) max_fibers = std::max(std::min(max_fibers_left_open(), few_fibers), workers);
  } else {
    throw;
  }
  static constinit os_env::atomic<bool> said{false};
  if (said.exchange(true, std::memory_order_relaxed)) return;  // relaxed: nothing else
  std::fprintf(stderr, "heist: an executor gets %s; %s\n", what, why.what());
}

}  // namespace heist::detail
