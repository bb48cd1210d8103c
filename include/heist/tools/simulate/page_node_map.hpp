// Which NUMA node's memory the pages of a program are in.
#pragma once

#include <cstdint>
#include <utility>  // pair
#include <vector>

#include "heist/core/base/config.hpp"

namespace heist::sim {

/// A regular value: what one simulation leaves to another of a program with the same addresses.
struct page_node_map {
  static constexpr std::uint32_t no_place = ~std::uint32_t{0};

  std::uint64_t page_bytes = 0;
  /// Page number, which is address / page_bytes, and node; ascending.
  std::vector<std::pair<std::uint64_t, std::uint32_t>> nodes;

  /// Returns `no_place` if no task has touched the page. Cost: O(log pages).
  std::uint32_t node_of(std::uint64_t address) const;

  friend bool operator==(page_node_map const&, page_node_map const&) = default;
};

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/page_node_map.ipp"
#endif
