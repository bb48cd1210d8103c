// The exception of the simulator.
#pragma once

#include "heist/core/base/errors.hpp"

namespace heist {

/// A program, a recording or options that cannot be simulated, or a policy that broke a promise. The message says
/// what is wrong, why, and how to fix it.
struct sim_error : error {
  using error::error;
};

}  // namespace heist
