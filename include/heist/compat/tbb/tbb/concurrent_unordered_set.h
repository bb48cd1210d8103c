// As <oneapi/tbb/concurrent_unordered_set.h>.
#pragma once

#include <oneapi/tbb/concurrent_unordered_set.h>
