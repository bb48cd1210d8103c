// How bodies of the simulator throw.
#pragma once

#include <fmt/core.h>

#include <utility>  // forward

#include "heist/tools/simulate/sim_error.hpp"

namespace heist::sim::detail {

template <class... Arguments>
[[noreturn]] void fail(fmt::format_string<Arguments...> what, Arguments&&... arguments) {
  throw sim_error(fmt::format(what, std::forward<Arguments>(arguments)...));
}

}  // namespace heist::sim::detail
