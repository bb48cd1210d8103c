// The simulator's own costs in ticks that are finer than its nanoseconds, for what is set beside measured times.
#pragma once

#include <heist/simulate.hpp>

namespace papers {

inline constexpr heist::sim::ticks ticks_per_ns =
    3;  // as many as the clock of idle policies has, and forks take few ns

/// The defaults of heist::sim::costs.
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
