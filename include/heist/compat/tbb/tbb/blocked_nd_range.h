// As <oneapi/tbb/blocked_nd_range.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/blocked_nd_range.h"
