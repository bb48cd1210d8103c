// Who takes whose value (heist::take). Included by bodies only: graphs that take nothing pay for no map.
#pragma once

#include <cstdint>
#include <unordered_map>

namespace heist::detail {

/// The taker, by the task that leaves the value.
struct value_takers : std::unordered_map<std::uint32_t, std::uint32_t> {};

}  // namespace heist::detail
