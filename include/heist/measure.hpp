// Door: work and span of a program; programs and graphs recorded for the simulator.
#pragma once

#include "heist/tools/measure/graph_dot.hpp"          // write_dot
#include "heist/tools/measure/graph_recording.hpp"    // record_graph
#include "heist/tools/measure/program_recording.hpp"  // record_program, keep_shorter
#include "heist/tools/measure/work_span.hpp"          // measure_work_span
