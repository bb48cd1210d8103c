// Door: policies cab and cats, with squads and two tiers of tasks; heist::region.
#pragma once

#include "heist/fork_join.hpp"
#include "heist/policy/tier_policies.hpp"
#include "heist/recall/graph_memory.hpp"
#include "heist/region.hpp"
#include "heist/tiers/by_tier.hpp"
#include "heist/tiers/squad_search.hpp"

// Bodies of squad_room.hpp that need more than their class.
#if HEIST_HEADER_ONLY
#include "heist/tiers/squad_fork.ipp"
#include "heist/tiers/squad_region.ipp"
#endif
