// Door: policy automatic, which tries the others for regions and graphs that run often.
#pragma once

#include "heist/graph.hpp"
#include "heist/locality/automatic/automatic.hpp"
#include "heist/replay.hpp"
#include "heist/tiers.hpp"
