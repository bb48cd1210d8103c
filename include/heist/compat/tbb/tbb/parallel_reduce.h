// As <oneapi/tbb/parallel_reduce.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/parallel_reduce.h"
