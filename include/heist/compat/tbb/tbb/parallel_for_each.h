// As <oneapi/tbb/parallel_for_each.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/parallel_for_each.h"
