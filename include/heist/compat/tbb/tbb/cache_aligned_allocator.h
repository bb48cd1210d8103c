// As <oneapi/tbb/cache_aligned_allocator.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/cache_aligned_allocator.h"
