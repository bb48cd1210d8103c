// The bounds of a whole executor: hundreds of steps, so they say, too, how often a load may return an older store.
#pragma once

#include "../engine/search.hpp"

namespace world {

/// `stale`: the number of loads, per execution, that return another store than the newest. Edges matter even without
/// stale loads: a thread that reads a new value without acquiring it does not see the writes before that value.
inline model::limits bounds(int preemptions, int stale) {
  return {.config = {.preemptions = preemptions, .steps = 4000, .odd_failures = 0, .stale = stale}};
}

}  // namespace world
