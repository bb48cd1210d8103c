// As <oneapi/tbb/blocked_range3d.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/blocked_range3d.h"
