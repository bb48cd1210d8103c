// The exception of the simulator.
#pragma once

#include <fmt/format.h>

#include <utility>  // forward

#include "heist/base/errors.hpp"

namespace heist {

/// A program, a recording or options that cannot be simulated, or a policy that broke a promise. The message says
/// what is wrong, why, and how to mend it.
struct sim_error : error {
  using error::error;
};

namespace sim::detail {

template <class... Arguments>
[[noreturn]] void fail(fmt::format_string<Arguments...> what, Arguments&&... arguments) {
  throw sim_error(fmt::format(what, std::forward<Arguments>(arguments)...));
}

}  // namespace sim::detail
}  // namespace heist
