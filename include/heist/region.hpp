// Door: heist::region, the memory of a repeated phase; policies without memory ignore it. What uses it is in tiers.hpp
// and replay.hpp.
#pragma once

#include "heist/locality/region/region.hpp"
#include "heist/locality/region/region_entry.hpp"
