// Inter-squad tasks: locality/squads/inter_task.hpp and locality/region/region_entry.hpp for simulated programs. Members of
// frames.
#pragma once

#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/tools/simulate/frames.hpp"

namespace heist::sim {

/// The body of a region that is divided belongs to the region's home squad.

/// The squad of `w`, its head, is busy with `t` from here on.
/// `t` has ended with its subtree, or waits for inter-squad children.
inline void frames::leave_squad(worker& w, std::uint32_t t) {
  if (recording_) recording_->placed(w.number, w.squad, t, 0, placement_kind::inter_end);
  squads_.release(inter_[t].squad, w.head);
}

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/inter_frames.ipp"
#endif
