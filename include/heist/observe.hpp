// Door: observers, counters, times, recordings and traces.
#pragma once

#include "heist/core/observe/observer.hpp"          // observer, null_observer, tee
#include "heist/locality/policy/steal_tree.hpp"     // steal_tree, difference
#include "heist/tools/observe/chrome_trace.hpp"     // write_chrome_trace
#include "heist/tools/observe/counters.hpp"         // counters
#include "heist/tools/observe/page_nodes.hpp"       // pages_of, first_touch_check
#include "heist/tools/observe/placement_trace.hpp"  // placement_trace, check_placement
#include "heist/tools/observe/recorder.hpp"         // recorder
#include "heist/tools/observe/task_edges.hpp"       // task_edges
#include "heist/tools/observe/time_breakdown.hpp"   // time_breakdown
