// The machine we run on, as hwloc sees it. Users of this file link hwloc.
#pragma once

#include "heist/core/base/config.hpp"
#include "heist/core/topology/machine.hpp"

namespace heist::topology {

/// The machine as far as the calling thread, and threads that it starts, may use it: online, in the cpuset, in the
/// thread's affinity mask. Found out once for each mask and each setting of hwloc's variables; kept for ever.
///
/// Never throws for want of information. The result is then a flat machine of the CPUs in the affinity mask, and
/// machine::note says so. hwloc's environment variables (HWLOC_SYNTHETIC, HWLOC_XMLFILE, ...) are honoured. The result
/// is then not this machine. A PU without a core counts as one. Thread-safe.
machine const& this_machine();

/// Does this_machine() have the PUs of allowed_cpus() in any case? False if hwloc's variables describe a machine. Cost:
/// reads the environment.
bool has_allowed_cpus();

/// As this_machine(), but always discovers. Cost: milliseconds. A repeated call of this_machine() costs a system call.
machine discover();

}  // namespace heist::topology

#if HEIST_HEADER_ONLY
#include "heist/core/topology/discover.ipp"
#endif
