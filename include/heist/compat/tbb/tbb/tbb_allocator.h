// As <oneapi/tbb/tbb_allocator.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/tbb_allocator.h"
