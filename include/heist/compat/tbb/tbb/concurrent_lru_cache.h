// As <oneapi/tbb/concurrent_lru_cache.h>.
#pragma once

#include <oneapi/tbb/concurrent_lru_cache.h>
