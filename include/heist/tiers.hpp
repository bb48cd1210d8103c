// Door: policies cab and cats, with squads and two tiers of tasks; heist::region.
#pragma once

#include "heist/fork_join.hpp"
#include "heist/locality/history/graph_memory.hpp"
#include "heist/locality/policy/tier_policies.hpp"
#include "heist/locality/squads/by_tier.hpp"
#include "heist/locality/squads/squad_search.hpp"
#include "heist/region.hpp"

// Bodies of squad_extension.hpp that need more than their class.
#if HEIST_HEADER_ONLY
#include "heist/locality/squads/squad_fork.ipp"
#include "heist/locality/squads/squad_region.ipp"
#endif
