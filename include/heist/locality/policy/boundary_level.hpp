// Where CAB cuts the tree of tasks in two (Chen et al., ICPP 2011, section III-B), and how the children of a flat scope
// are dealt to squads.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t

namespace heist::tier {

namespace detail {

/// For products of two 64-bit numbers.
__extension__ using wide = unsigned __int128;

constexpr std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) noexcept {
  return a / b + (a % b != 0 ? 1 : 0);
}

template <class T>
constexpr T larger(T a, T b) noexcept {
  return a < b ? b : a;
}
template <class T>
constexpr T smaller(T a, T b) noexcept {
  return b < a ? b : a;
}

}  // namespace detail

/// BL of Eq. 4: the level whose tasks are the leaf inter-squad tasks. Levels count from 0, the task that enters the
/// region; its body is level 1, and level BL has B^(BL-1) tasks.
///
/// The smallest BL with B^(BL-1) >= M (Eq. 1) and S_d / B^(BL-1) <= S_c (Eq. 2), in whole numbers: logarithms of
/// doubles are off by one at exact powers. Level 0 means traditional stealing: for M <= 1 (Algorithm II, step 2), and
/// where Eq. 4 says nothing. That is the case for a branching degree below 2, no data size, or no cache size.
///
/// branching           B, children per task          data_bytes           S_d, the data of the whole region
/// squads              M                             shared_cache_bytes   S_c, of one squad
///
/// Cost: at most 64 multiplications and divisions.
constexpr std::uint32_t boundary_level(std::uint64_t branching, std::uint64_t squads, std::uint64_t data_bytes,
                                       std::uint64_t shared_cache_bytes) noexcept {
  if (squads <= 1 || branching < 2 || data_bytes == 0 || shared_cache_bytes == 0) return 0;
  std::uint64_t const leaves = detail::larger(squads, detail::divide_up(data_bytes, shared_cache_bytes));
  std::uint32_t level = 1;
  for (std::uint64_t width = 1; width < leaves; ++level)
    width = width > leaves / branching ? leaves : width * branching;  // the former where it would be more, or overflow
  return level;
}

/// The boundary level of a region on a machine whose description may have no cache sizes (0): then by Eq. 1 alone.
constexpr std::uint32_t boundary_level_of_region(std::uint64_t branching, std::uint64_t squads,
                                                 std::uint64_t data_bytes, std::uint64_t shared_cache_bytes) noexcept {
  if (shared_cache_bytes == 0 && data_bytes != 0) return boundary_level(branching, squads, 1, 1);
  return boundary_level(branching, squads, data_bytes, shared_cache_bytes);
}

/// Into how many groups of neighbours the children of a flat scope are dealt; each group is then one inter-squad task.
/// The same two constraints as above: at least M groups, and the largest group's share of the data is at most S_c.
/// There are no more groups than these ask for, and never more than children.
///
/// data_bytes is the data of all these children together, in equal shares. If the data or the cache size is unknown
/// (0), M groups; with one squad, one group; without children none.
constexpr std::size_t flat_groups(std::size_t children, std::uint64_t squads, std::uint64_t data_bytes,
                                  std::uint64_t shared_cache_bytes) noexcept {
  if (children == 0) return 0;
  if (squads <= 1) return 1;
  std::uint64_t groups = squads;
  if (data_bytes != 0 && shared_cache_bytes != 0) {
    auto const that_fit = detail::wide{shared_cache_bytes} * children / data_bytes;  // children of one group
    auto const most =
        static_cast<std::uint64_t>(detail::smaller<detail::wide>(detail::larger<detail::wide>(that_fit, 1), children));
    groups = detail::larger(groups, detail::divide_up(children, most));
  }
  return static_cast<std::size_t>(detail::smaller<std::uint64_t>(groups, children));
}

/// The first child of a group; the children of `group` end where those of `group + 1` begin. Sizes differ by at most
/// one. Needs group <= groups and groups > 0.
constexpr std::size_t flat_group_begin(std::size_t children, std::size_t groups, std::size_t group) noexcept {
  return group * (children / groups) + detail::smaller(group, children % groups);
}

}  // namespace heist::tier
