// scalable_allocator.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/cache_aligned_allocator.h"
