// Graphs of nodes that pass messages.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/flow/async_node.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/broadcast_node.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/buffer_node.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/composite_node.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/continue_node.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/function_node.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/indexer_node.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/input_node.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/join_node.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/limiter_node.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/multifunction_node.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/overwrite_node.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow_graph_abstractions.h"
#include "heist/compat/tbb/oneapi/tbb/task_arena.h"
