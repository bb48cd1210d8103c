// As <oneapi/tbb/concurrent_unordered_map.h>.
#pragma once

#include <oneapi/tbb/concurrent_unordered_map.h>
