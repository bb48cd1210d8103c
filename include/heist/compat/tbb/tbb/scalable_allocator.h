// As <oneapi/tbb/scalable_allocator.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/scalable_allocator.h"
