// Door: machines, squads, CPU quotas, pinning.
#pragma once

#include "heist/core/base/errors.hpp"         // topology_error
#include "heist/core/topology/bind.hpp"       // bind_this_thread, allowed_cpus
#include "heist/core/topology/cpu_quota.hpp"  // cpu_quota, usable_cpus
#include "heist/core/topology/discover.hpp"   // this_machine
#include "heist/core/topology/machine.hpp"    // machine, pu
#include "heist/core/topology/squads.hpp"     // squad_by, make_squads
#include "heist/core/topology/synthetic.hpp"  // parse
#include "heist/core/topology/xml.hpp"        // parse_xml, load_xml
