// Stands for executor/circular_wait.hpp: there are no futures here, so no circles of waits.
#pragma once

#include "heist/sched/wait.hpp"

namespace heist::detail {

inline void wait_for_run(completion& end, unsigned generation, wait_reason const& why) {
  wait_for(end, generation, why);
}

}  // namespace heist::detail
