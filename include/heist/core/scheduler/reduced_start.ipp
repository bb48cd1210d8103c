// Bodies of reduced_start.hpp.
#pragma once

#include "heist/core/scheduler/reduced_start.hpp"

#include <cstdio>  // fprintf, snprintf
#include <new>     // bad_alloc

#include "heist/core/policy/placement.hpp"
#include "heist/core/scheduler/display.hpp"

namespace heist::detail {

HEIST_COLD_BODY std::size_t attempt::expected_workers() const {
  return workers != 0 ? workers : placement{options, false}.usable_workers();
}

HEIST_COLD_BODY void attempt::ask_for_less(std::exception const& why) {
  constexpr std::size_t smallest_stack = std::size_t{64} << 10;
  constexpr std::size_t few_fibers = 1024;
  std::size_t const expected = expected_workers();
  auto const* const threads = dynamic_cast<thread_rejected const*>(&why);
  // Of another executor, which an observer has made for instance, it is no business of this one.
  if (threads != nullptr && threads->wanted != expected) throw;
  if (dynamic_cast<stack_error const*>(&why) == nullptr) {
    if (threads == nullptr && dynamic_cast<std::bad_alloc const*>(&why) == nullptr) throw;
    if (options.workers != 0) throw;  // the caller asked for a number: all of them or none
  }
  std::size_t const stack = stack_size != 0 ? stack_size : stack_size_left_open();
  if (threads != nullptr && threads->started != 0) {
    what_ = "fewer workers than it wants, since the system refuses threads";
    workers = threads->started;
  } else if (options.stack_size == 0 && stack > smallest_stack) {
    what_ = "smaller stacks for its tasks than it wants, since the system refuses memory";
    stack_size = stack / 2 > smallest_stack ? stack / 2 : smallest_stack;
    // Each worker has a table of as many entries.
    if (options.max_fibers == 0) {
      max_fibers = max_fibers_left_open() < few_fibers ? max_fibers_left_open() : few_fibers;
      if (max_fibers < expected) max_fibers = expected;
    }
  } else if (options.workers == 0 && expected > 1) {
    what_ = "fewer workers than it wants, since the system refuses memory";
    workers = expected / 2;
  } else {
    throw;
  }
  std::snprintf(why_, sizeof why_, "%s", why.what());
}

HEIST_COLD_BODY void attempt::say() const noexcept {
  // relaxed: for people
  if (workers != options.workers) made_with_less::workers.store(workers, std::memory_order_relaxed);
  // relaxed: as above
  if (stack_size != options.stack_size) made_with_less::stack_size.store(stack_size, std::memory_order_relaxed);
  static os_env::atomic<bool> printed{false};
  if (printed.exchange(true, std::memory_order_relaxed)) return;  // relaxed: nothing else
  std::fprintf(stderr, "heist: an executor gets %s; %s\n", what_, why_);
}

}  // namespace heist::detail
