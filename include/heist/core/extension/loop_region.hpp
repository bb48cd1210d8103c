// How loops enter a region, which they only declare.
#pragma once

#include <atomic>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/fwd.hpp"

namespace heist::detail {

struct loop_region {
  using body = void (*)(void* of, context inside);

  /// Calls `b(of, inside)` as one run of `r` (context::invoke). Set by the first region that is made.
  HEIST_ONE_COPY static inline constinit os_env::atomic<void (*)(region& r, context const& c, body b, void* of)> call =
      nullptr;
};

}  // namespace heist::detail
