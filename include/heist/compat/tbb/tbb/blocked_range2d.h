// As <oneapi/tbb/blocked_range2d.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/blocked_range2d.h"
