// Door: heist::region, the memory of a repeated phase; policies without memory ignore it. What uses it is in tiers.hpp
// and replay.hpp.
#pragma once

#include "heist/core/fork/region_entry.hpp"
#include "heist/locality/region/region.hpp"
