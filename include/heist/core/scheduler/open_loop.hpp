// A loop that idle workers may help with. parallel/algorithm/shared_loop.ipp derives the loop itself from it.
#pragma once

#include "heist/core/base/env.hpp"
#include "heist/core/scheduler/runnable.hpp"
#include "heist/core/sync/open_list.hpp"
#include "heist/core/sync/shared_range.hpp"

namespace heist::detail {

/// A worker that has entered `left` runs it.
struct open_loop : runnable, open_link<os_env, open_loop> {
  using free_function = void (*)(open_loop&) noexcept;
  open_loop(run_function help, free_function end) noexcept : runnable{help, nullptr}, free{end} {}

  free_function const free;
  alignas(cache_line_size) shared_range<> left;  // last: a helper's next read follows on the same line
};

}  // namespace heist::detail
