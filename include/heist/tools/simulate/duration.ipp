// Bodies of duration.hpp.
#pragma once

#include "heist/tools/simulate/duration.hpp"

#include <cmath>  // log

namespace heist::sim {

HEIST_BODY ticks duration::draw(fast_random& random) const noexcept {
  if (law == sim::law::fixed || mean == 0) return mean;
  double const uniform = static_cast<double>(random.next() >> 11) * 0x1p-53;  // [0, 1)
  return static_cast<ticks>(std::round(-std::log(1 - uniform) * static_cast<double>(mean)));
}

}  // namespace heist::sim
