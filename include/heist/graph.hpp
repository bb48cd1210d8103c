// Door: task_graph, task, graph_run, limiter.
#pragma once

#include "heist/executor.hpp"
#include "heist/graph/dot.hpp"
#include "heist/graph/limiter.hpp"
#include "heist/graph/run_end.hpp"
#include "heist/graph/task_graph.hpp"
