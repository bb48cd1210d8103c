// bench_replay redistribute: how long it takes to bring the programs' data to where a schedule uses it (the paper's
// Fig. 6).
#pragma once

#include "../locality/options.hpp"

namespace replay {

/// Measures and prints; true if all copies are right.
bool measure_redistribution(locality::options o);

}  // namespace replay
