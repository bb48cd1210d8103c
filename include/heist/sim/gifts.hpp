// A simulation along a steal tree: what workers give each other. Members of frames.
#pragma once

#include <cstdint>

#include "heist/base/config.hpp"
#include "heist/sim/frames.hpp"

namespace heist::sim {

/// `from`: whom it takes time; null if it is no worker.
inline void frames::give(worker* from, std::uint32_t to, item i) {
  follow_.give(to, i);
  tell_of_gift(from, to);
}

inline std::uint32_t frames::last_child(std::uint32_t t) const noexcept {
  stage const& now = program_.stage_at(t, tasks_[t].stage);
  return now.first_child + now.children - 1;
}

inline std::uint32_t frames::successor(std::uint32_t t, std::uint32_t w) const noexcept {
  std::uint32_t const told = follow_.after_join(tasks_[last_child(t)].place);
  return told == none ? w : told;
}

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/sim/gifts.ipp"
#endif
