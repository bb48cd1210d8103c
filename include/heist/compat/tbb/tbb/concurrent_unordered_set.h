// oneTBB's own concurrent_unordered_set.
#pragma once
#pragma GCC system_header

#include "heist/compat/tbb/oneapi/tbb/detail/onetbb_begin.hpp"

#include_next <tbb/concurrent_unordered_set.h>

#include "heist/compat/tbb/oneapi/tbb/detail/onetbb_end.hpp"
