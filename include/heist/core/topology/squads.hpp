// Divides the workers of an executor into squads: workers that share a cache, a package, or another wanted level. Plain
// arithmetic on a machine's description; the same for real and for pretended machines.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>  // int32_t, uint32_t
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/topology/machine.hpp"

namespace heist {

/// The part of the machine that the workers of one squad share.
enum class squad_by {
  automatic,  ///< the outermost level that has several instances and a cache shared by several cores
  package,
  numa,
  l3,
  l2,
  core,
};

namespace topology {

/// Where each worker sits and which belong together. Squads are numbered from 0 without gaps; none is empty.
struct squads {
  std::vector<std::uint32_t> squad_of;              ///< worker -> squad
  std::vector<std::vector<std::uint32_t>> members;  ///< squad -> its workers, ascending
  std::vector<std::uint32_t> head;                  ///< squad -> its head worker, the first of its members
  std::vector<std::uint32_t> pu_of_worker;          ///< worker -> index into machine::pus

  friend bool operator==(squads const&, squads const&) = default;
};

/// The level that squad_by::automatic stands for on this machine; `automatic` itself means one squad for all.
///
/// The first of package, l3, l2 that has more than one instance, a cache, and more than one core in some instance. A
/// package counts as having a cache if there is an L3, or if the description says nothing about caches.
squad_by resolve(machine const& m, squad_by level);

/// Puts workers on PUs in logical order: one per core first, then on the cores' other PUs, then round again. Divides
/// them by the level that their PUs share.
///
/// A PU without the level asked for falls back to a larger part of the machine (l3, numa -> package -> all; l2 ->
/// core). Throws topology_error if the machine has no PUs. Cost: O(PUs + workers).
squads make_squads(machine const& m, squad_by level, std::size_t workers);

/// The same with squads given by hand, each a list of indices into machine::pus. PUs in no list get no workers.
///
/// Throws topology_error for a list that is empty, a PU that the machine does not have, and one that is named twice.
squads make_squads(machine const& m, std::vector<std::vector<std::uint32_t>> const& pu_sets, std::size_t workers);

/// The cache that each squad has to itself, in the smallest of them: L3s that no two squads share, or L2s if there are
/// no L3s. 0 if the machine's description does not say.
std::uint64_t shared_cache_bytes(machine const& m, squads const& s);

namespace detail {

/// PUs in the order in which workers take them: the first of each core, then the second of each core, ...
/// Leaves out PUs whose group is no_squad.
std::vector<std::uint32_t> placement(machine const& m, std::vector<std::uint32_t> const& group_of_pu);

}  // namespace detail

}  // namespace topology
}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/core/topology/squads.ipp"
#endif
