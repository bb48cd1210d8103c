// As <oneapi/tbb/flow_graph.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/flow_graph.h"
