// How a simulated worker takes items, from other workers or from its own pools, and continues with them. Members of
// frames.
#pragma once

#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/tools/simulate/frames.hpp"

namespace heist::sim {

inline void frames::overtake(std::uint32_t t) noexcept {
  --frames_;
  tasks_[program_.stage_at(t, tasks_[t].stage).first_child + tasks_[t].next].continuation_stolen = true;
}

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/taking.ipp"
#endif
