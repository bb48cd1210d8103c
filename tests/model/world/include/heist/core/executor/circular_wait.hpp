// Stands for core/executor/circular_wait.hpp: there are no futures here, so no circles of waits.
#pragma once

#include "heist/core/scheduler/wait.hpp"

namespace heist::detail {

/// No task here hands a stop on.
struct stop_target {
  stop_origin origin;
  void (*stop)(void* what) noexcept;
  void* what;
};
inline interrupt_state const* interrupt_of_caller() noexcept {
  return nullptr;
}
inline void wait_for_run(completion& end, unsigned generation, wait_reason const& why, stop_target const&) {
  wait_for(end, generation, why);
}

}  // namespace heist::detail
