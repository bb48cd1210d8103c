// Bodies of page_node_map.hpp.
#pragma once

#include "heist/tools/simulate/page_node_map.hpp"

#include <algorithm>  // lower_bound

namespace heist::sim {

HEIST_BODY std::uint32_t page_node_map::node_of(std::uint64_t address) const {
  if (page_bytes == 0) return no_place;
  std::uint64_t const page = address / page_bytes;
  auto const at = std::lower_bound(nodes.begin(), nodes.end(), std::pair{page, std::uint32_t{0}});
  return at != nodes.end() && at->first == page ? at->second : no_place;
}

}  // namespace heist::sim
