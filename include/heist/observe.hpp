// Door: observers, counters, times, recordings and traces.
#pragma once

#include "heist/observe/chrome_trace.hpp"     // write_chrome_trace
#include "heist/observe/counters.hpp"         // counters
#include "heist/observe/observer.hpp"         // observer, null_observer, tee
#include "heist/observe/page_nodes.hpp"       // pages_of, first_touch_check
#include "heist/observe/placement_trace.hpp"  // placement_trace, check_placement
#include "heist/observe/recorder.hpp"         // recorder
#include "heist/observe/steal_tree.hpp"       // steal_tree, difference
#include "heist/observe/task_edges.hpp"       // task_edges
#include "heist/observe/time_breakdown.hpp"   // time_breakdown
