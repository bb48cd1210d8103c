// As <oneapi/tbb/concurrent_map.h>.
#pragma once

#include <oneapi/tbb/concurrent_map.h>
