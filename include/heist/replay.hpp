// Door: policy replay, steal trees, heist::region, redistribute.
#pragma once

#include "heist/fork_join.hpp"
#include "heist/observe/steal_tree.hpp"  // steal_tree, difference
#include "heist/policy/adaptation.hpp"   // adaptation_options
#include "heist/policy/policies.hpp"
#include "heist/policy/replay_mode.hpp"
#include "heist/recall/graph_memory.hpp"
#include "heist/region.hpp"
#include "heist/replay/gift_search.hpp"
#include "heist/replay/recorded_places.hpp"
#include "heist/replay/redistribute.hpp"

// Bodies of replay_room.hpp that need more than their class.
#if HEIST_HEADER_ONLY
#include "heist/replay/recorded_fork.ipp"
#include "heist/replay/recorded_region.ipp"
#endif
