// As <oneapi/tbb/parallel_sort.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/parallel_sort.h"
