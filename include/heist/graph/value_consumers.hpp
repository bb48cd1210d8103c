// Which task takes which task's value (heist::take). Included by bodies only: graphs that take nothing pay for no map.
#pragma once

#include "heist/core/base/number_map.hpp"

namespace heist::detail {

/// The taker, by the task that leaves the value.
struct value_consumers : number_map {};

}  // namespace heist::detail
