// Door: work and span of a program; programs and graphs recorded for the simulator.
#pragma once

#include "heist/measure/graph_dot.hpp"          // write_dot
#include "heist/measure/graph_recording.hpp"    // record_graph
#include "heist/measure/program_recording.hpp"  // record_program, keep_shorter
#include "heist/measure/work_span.hpp"          // measure_work_span
