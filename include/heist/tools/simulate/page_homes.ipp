// Bodies of page_homes.hpp.
#pragma once

#include "heist/tools/simulate/page_homes.hpp"

#include <algorithm>  // lower_bound

namespace heist::sim {

HEIST_BODY std::uint32_t page_homes::node_of(std::uint64_t address) const {
  if (page_bytes == 0) return nowhere;
  std::uint64_t const page = address / page_bytes;
  auto const at = std::lower_bound(nodes.begin(), nodes.end(), std::pair{page, std::uint32_t{0}});
  return at != nodes.end() && at->first == page ? at->second : nowhere;
}

}  // namespace heist::sim
