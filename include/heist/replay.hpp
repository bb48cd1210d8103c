// Door: policy replay, steal trees, heist::region, redistribute.
#pragma once

#include "heist/core/policy/policies.hpp"
#include "heist/fork_join.hpp"
#include "heist/locality/history/graph_memory.hpp"
#include "heist/locality/policy/adaptation.hpp"  // adaptation_options
#include "heist/locality/policy/replay_mode.hpp"
#include "heist/locality/policy/steal_tree.hpp"  // steal_tree, difference
#include "heist/locality/replay/mail_search.hpp"
#include "heist/locality/replay/recorded_places.hpp"
#include "heist/locality/replay/redistribute.hpp"
#include "heist/region.hpp"

// Bodies of replay_extension.hpp that need more than their class.
#if HEIST_HEADER_ONLY
#include "heist/locality/replay/recorded_fork.ipp"
#include "heist/locality/replay/recorded_region.ipp"
#endif
