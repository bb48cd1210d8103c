// Bodies of near_search.hpp.
#pragma once

#include "heist/locality/squads/near_search.hpp"

#include <cstdint>

#include "heist/core/scheduler/core.hpp"

namespace heist::detail {

HEIST_BODY found_near look_near(worker& w, std::vector<worker*> const& mates) noexcept {
  if (runnable* const t = core::take_gift(w); t != nullptr) return {t, &w};
  auto const count = static_cast<std::uint32_t>(mates.size());
  if (count == 1) return {};
  std::uint32_t const first = w.random.below(count);
  for (std::uint32_t i = 0; i != count; ++i) {
    worker& mate = *mates[(first + i) % count];
    if (&mate == &w) continue;
    if (runnable* const t = core::take_gift(mate); t != nullptr) return {t, &mate};
    if (mate.deque.maybe_empty()) continue;
    if (auto const stolen = mate.deque.steal(); stolen.status == steal_status::stolen) return {stolen.item, &mate};
  }
  return {};
}

}  // namespace heist::detail
