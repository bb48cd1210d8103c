// Stands for core/scheduler/slot.hpp: there are no helpers here.
#pragma once

#include "heist/core/scheduler/worker.hpp"

namespace heist::detail {

inline void release_slot(worker&, bool) noexcept {}
inline bool keep_slot(worker&) noexcept {
  return true;
}
inline void reclaim_slot(worker&, bool) noexcept {}

}  // namespace heist::detail
