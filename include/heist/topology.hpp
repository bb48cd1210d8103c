// Door: machines, squads, CPU quotas, pinning.
#pragma once

#include "heist/base/errors.hpp"         // topology_error
#include "heist/topology/bind.hpp"       // bind_this_thread, allowed_cpus
#include "heist/topology/cpu_quota.hpp"  // cpu_quota, usable_cpus
#include "heist/topology/discover.hpp"   // this_machine
#include "heist/topology/machine.hpp"    // machine, pu
#include "heist/topology/squads.hpp"     // squad_by, make_squads
#include "heist/topology/synthetic.hpp"  // parse
#include "heist/topology/xml.hpp"        // parse_xml, load_xml
