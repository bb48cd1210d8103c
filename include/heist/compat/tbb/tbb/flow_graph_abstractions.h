// As <oneapi/tbb/flow_graph_abstractions.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/flow_graph_abstractions.h"
