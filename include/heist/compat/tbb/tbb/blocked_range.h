// As <oneapi/tbb/blocked_range.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/blocked_range.h"
