// Machines from descriptions in one line such as "package:2 l3:1 core:4 pu:2". This is hwloc's synthetic format. heist
// reads it itself: hwloc takes 1.7 s for 4,096 PUs and minutes for 65,536. It also heeds the environment, and never
// names the fault.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>  // int32_t, uint32_t, uint64_t
#include <string>
#include <string_view>
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/topology/machine.hpp"

namespace heist::topology {

/// The most PUs that a described machine may have.
inline constexpr std::size_t max_described_pus = 65536;

/// A machine described in hwloc's synthetic format: `name:count` from the outside in, each count per parent, e.g.
/// "package:4 l3:1 core:4 pu:1" or "numa:2 l2:4(size=1MiB) core:2 pu:2"; "package:2 [numa] core:4 pu:1" puts memory
/// beside a level; numbers alone, "2 2 4 2", leave the names to hwloc's rule (package, numa, l3, l2, l1, core, pu).
///
/// Levels that are not named do not exist (l3 == -1, ...), except: there is always a NUMA node, and without cores each
/// PU is one. Names as hwloc reads them: any case, two letters suffice. Operating system indices are not taken over.
/// Throws topology_error for anything else, and for more than max_described_pus PUs. The environment does not matter.
machine parse(std::string_view text);

namespace detail {

enum class level_kind : std::uint8_t { plain, package, numa, die, group, core, pu, l1, l2, l3, l4, l5, l1i, l2i, l3i };

/// One word of a description: `name:count(size=...)`, or an attached NUMA node `[numa]`.
struct synthetic_level {
  level_kind kind = level_kind::plain;
  std::uint64_t count = 1;  ///< instances in each parent
  std::uint64_t bytes = 0;  ///< size of a cache; 0 if not given
  bool attached = false;    ///< a NUMA node in brackets: memory beside the level before it
};

char lower(char c) noexcept;
bool is_digit(char c) noexcept;
bool is_alpha(char c) noexcept;
bool is_space(char c) noexcept;

/// Text that the user gave, short and printable, in quotes.
std::string in_quotes(std::string_view text);

/// Every instance of a level holds the same number of PUs, so its index is a quotient.
machine build(std::vector<synthetic_level> const& levels, std::size_t pus);

}  // namespace detail

}  // namespace heist::topology

#if HEIST_HEADER_ONLY
#include "heist/core/topology/synthetic.ipp"
#endif
