// The exception of the simulator.
#pragma once

#include "heist/core/base/errors.hpp"

namespace heist {

/// A program, a recording or options that cannot be simulated, or a policy that broke a promise. The message names the
/// fault, its reason and its remedy.
struct sim_error : error {
  using error::error;
};

}  // namespace heist
