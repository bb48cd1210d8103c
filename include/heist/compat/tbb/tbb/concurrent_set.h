// As <oneapi/tbb/concurrent_set.h>.
#pragma once

#include <oneapi/tbb/concurrent_set.h>
