// The simulator's default costs in ticks shorter than a nanosecond, for comparisons with measured times.
#pragma once

#include <heist/simulate.hpp>

namespace papers {

inline constexpr heist::sim::ticks ticks_per_ns = 3;  // as the clock of idle policies; forks take only a few ns

/// The defaults of heist::sim::costs, in ticks.
inline heist::sim::costs costs_in_ticks() {
  heist::sim::costs c;
  for (auto* const d : {&c.fork, &c.join,   &c.continuation, &c.park,  &c.resume,      &c.attempt,    &c.steal,
                        &c.look, &c.far,    &c.unfamiliar,   &c.inter, &c.pause,       &c.yield,      &c.sleep,
                        &c.wake, &c.notify, &c.submit,       &c.node,  &c.private_hit, &c.shared_hit, &c.memory})
    d->mean *= ticks_per_ns;
  c.clock = 1;
  return c;
}

inline heist::sim::ticks to_ticks(double ns) {
  return static_cast<heist::sim::ticks>(ns * static_cast<double>(ticks_per_ns) + 0.5);
}

}  // namespace papers
