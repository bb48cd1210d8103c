// Bodies of near_search.hpp.
#pragma once

#include "heist/locality/squads/near_search.hpp"

#include <cstdint>

#include "heist/core/scheduler/core.hpp"

namespace heist::detail {

HEIST_BODY found_near look_near(worker& w, std::vector<worker*> const& peers) noexcept {
  if (runnable* const t = core::take_mail(w); t != nullptr) return {t, &w};
  auto const count = static_cast<std::uint32_t>(peers.size());
  if (count == 1) return {};
  std::uint32_t const first = w.random.below(count);
  for (std::uint32_t i = 0; i != count; ++i) {
    worker& peer = *peers[(first + i) % count];
    if (&peer == &w) continue;
    if (runnable* const t = core::take_mail(peer); t != nullptr) return {t, &peer};
    if (peer.deque.maybe_empty()) continue;
    if (auto const stolen = peer.deque.steal(); stolen.status == steal_status::stolen) return {stolen.item, &peer};
  }
  return {};
}

}  // namespace heist::detail
