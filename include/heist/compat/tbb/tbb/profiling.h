// As <oneapi/tbb/profiling.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/profiling.h"
