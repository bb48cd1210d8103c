// A simulation along a steal tree: what becomes of a frame's children, and what workers give each other. Members of
// frames.
#pragma once

#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/tools/simulate/frames.hpp"

namespace heist::sim {

inline heist::detail::followed_way frames::way_of_child(worker& w, std::uint32_t t, std::uint32_t child, bool last) {
  if (!follow_.active()) return last ? heist::detail::followed_way::in_place : heist::detail::followed_way::stealable;
  return follow_.decide(t, child, program_.task_at(child).index, last, w.continuations.empty(), told_by(&w));
}

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/mailbox.ipp"
#endif
