// Door: policies cab, cats, replay and automatic, regions, the memory of graphs, machines and their squads.
#pragma once

#include "heist/automatic.hpp"
#include "heist/policy.hpp"
#include "heist/region.hpp"
#include "heist/replay.hpp"
#include "heist/tiers.hpp"
#include "heist/topology.hpp"
