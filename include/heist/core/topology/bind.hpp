// Pins the calling thread to a PU and unpins it; the CPUs that the thread may run on.
#pragma once

#include <cstdint>  // uint32_t
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/topology/machine.hpp"

namespace heist::topology {

/// The operating system's numbers of the CPUs that the calling thread may run on, ascending; empty if it will not say.
std::vector<std::uint32_t> allowed_cpus();

/// Lets the calling thread run on this PU only. False, and nothing happens, unless `m` is the real machine and the
/// operating system agrees: on a described machine the numbers mean nothing.
bool bind_this_thread(machine const& m, pu const& where) noexcept;

/// The same by index into machine::pus, as in squads::pu_of_worker; false if there is no such PU.
bool bind_this_thread(machine const& m, std::uint32_t pu_index) noexcept;

/// Lets the calling thread run on every PU of the real machine again. False, and nothing happens, as above.
bool unbind_this_thread(machine const& m) noexcept;

}  // namespace heist::topology

#if HEIST_HEADER_ONLY
#include "heist/core/topology/bind.ipp"
#endif
