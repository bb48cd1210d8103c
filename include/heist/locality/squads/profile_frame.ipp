// Bodies of profile_frame.hpp.
#pragma once

#include "heist/locality/squads/profile_frame.hpp"

namespace heist::detail {

HEIST_COLD_BODY void profile_frame::restart() noexcept {
  running_ = true;
  counters_ = squads_of(on_->scheduler).read_counters(*on_->worker);
  ticks_ = os_env::ticks();
}

HEIST_COLD_BODY bool profile_frame::stop() noexcept {
  if (!running_) return false;
  running_ = false;
  own_.ticks += os_env::ticks() - ticks_;
  counter_values const now = squads_of(on_->scheduler).read_counters(*on_->worker);
  own_.private_misses += now.private_misses - counters_.private_misses;
  own_.l1_misses += now.l1_misses - counters_.l1_misses;
  own_.instructions += now.instructions - counters_.instructions;
  return true;
}

}  // namespace heist::detail
