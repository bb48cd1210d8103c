// A loop that workers which search may help with, as they see it. What it runs is in algo/shared_loop.ipp.
#pragma once

#include <atomic>

#include "heist/base/env.hpp"
#include "heist/sched/runnable.hpp"
#include "heist/sync/shared_range.hpp"

namespace heist::detail {

/// A worker that has entered `left` runs it.
struct open_loop : runnable {
  using free_function = void (*)(open_loop&) noexcept;
  open_loop(run_function help, free_function end) noexcept : runnable{help, nullptr}, free{end} {}

  /// By a caller. False: another one uses it.
  bool claim() noexcept {
    return !is_used.load(std::memory_order_relaxed) &&          // relaxed: a hint
           !is_used.exchange(true, std::memory_order_acquire);  // acquire: pairs with give_back()
  }
  void give_back() noexcept { is_used.store(false, std::memory_order_release); }  // release: what the last caller did

  free_function const free;
  open_loop* next_of_all = nullptr;  // this line changes once only
  alignas(cache_line_size) os_env::atomic<bool> is_used{true};
  alignas(cache_line_size) shared_range<> left;  // last: what a helper reads next follows on the same line
};

}  // namespace heist::detail
