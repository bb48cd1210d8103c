// As <oneapi/tbb/concurrent_hash_map.h>.
#pragma once

#include <oneapi/tbb/concurrent_hash_map.h>
