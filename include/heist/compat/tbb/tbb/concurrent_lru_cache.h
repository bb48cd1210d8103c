// oneTBB's own concurrent_lru_cache.
#pragma once
#pragma GCC system_header

#include "heist/compat/tbb/oneapi/tbb/detail/onetbb_begin.hpp"

#include_next <tbb/concurrent_lru_cache.h>

#include "heist/compat/tbb/oneapi/tbb/detail/onetbb_end.hpp"
