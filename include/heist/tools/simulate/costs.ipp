// Bodies of costs.hpp.
#pragma once

#include "heist/tools/simulate/costs.hpp"

namespace heist::sim {

HEIST_COLD_BODY costs costs::nothing() noexcept {
  costs c;
  for (auto const cost :
       {&costs::fork,  &costs::join,        &costs::continuation, &costs::park,   &costs::resume,     &costs::attempt,
        &costs::steal, &costs::donate,      &costs::look,         &costs::far,    &costs::unfamiliar, &costs::inter,
        &costs::pause, &costs::yield,       &costs::sleep,        &costs::wake,   &costs::notify,     &costs::submit,
        &costs::node,  &costs::private_hit, &costs::shared_hit,   &costs::memory, &costs::far_memory})
    c.*cost = 0;
  return c;
}

HEIST_COLD_BODY costs costs::wool_section_4(ticks mean) noexcept {
  costs c = nothing();
  c.attempt = exponential(mean);
  c.look = exponential(mean / 2);
  return c;
}

}  // namespace heist::sim
