// Stands for core/scheduler/seat.hpp: there are no guests here.
#pragma once

#include "heist/core/scheduler/worker.hpp"

namespace heist::detail {

inline void lend_seat(worker&) noexcept {}
inline bool keep_seat(worker&) noexcept {
  return true;
}
inline void take_seat_back(worker&) noexcept {}

}  // namespace heist::detail
