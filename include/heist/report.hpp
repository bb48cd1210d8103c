// Door: reports of recordings; and what writes them, and traces, where the environment asks for it. One file of a
// program that includes this, or the CMake target heist::compiled, makes HEIST_TRACE=file and HEIST_REPORT=file work.
// It takes compilers some seconds.
#pragma once

#include "heist/tools/observe/environment_writer.hpp"  // HEIST_TRACE, HEIST_REPORT
#include "heist/tools/observe/task_edges.hpp"          // task_edges
#include "heist/tools/observe/trace_report.hpp"        // summarize, write_report
