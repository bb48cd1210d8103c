// bench_replay programs: the paper's programs under every schedule.
#pragma once

#include "../locality/options.hpp"

namespace replay {

/// Runs and prints the comparisons that `o` selects, for each number of workers; true if all results are right.
bool compare_programs(locality::options o);

void list_programs();

}  // namespace replay
