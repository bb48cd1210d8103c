// oneTBB's own concurrent_queue.
#pragma once
#pragma GCC system_header

#include "heist/compat/tbb/oneapi/tbb/detail/onetbb_begin.hpp"

#include_next <oneapi/tbb/concurrent_queue.h>

#include "heist/compat/tbb/oneapi/tbb/detail/onetbb_end.hpp"
