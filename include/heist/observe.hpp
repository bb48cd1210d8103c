// Door: observers, counters, times, recordings and traces.
#pragma once

#include "heist/observe/chrome_trace.hpp"    // write_chrome_trace
#include "heist/observe/counters.hpp"        // counters
#include "heist/observe/observer.hpp"        // observer, null_observer, tee
#include "heist/observe/recorder.hpp"        // recorder
#include "heist/observe/time_breakdown.hpp"  // time_breakdown
