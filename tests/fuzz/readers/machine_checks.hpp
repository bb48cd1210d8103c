// The conditions that every machine that was read must meet, and its form as XML.
#pragma once

#include "heist/core/topology/machine.hpp"
#include "target.hpp"

namespace fuzz {

/// Dense indices in order of the PUs, a matrix of the right size, and squads that have all workers.
void require_machine(heist::topology::machine const& m);

/// The squads of `workers` workers are a division, whatever the level.
void require_squads(heist::topology::machine const& m, std::size_t workers);

/// An XML file of this machine. Nothing if its parts do not stand inside each other, or it has no XML of its own: hwloc
/// would not describe such a one.
std::optional<std::string> xml_of(heist::topology::machine const& m);

}  // namespace fuzz
