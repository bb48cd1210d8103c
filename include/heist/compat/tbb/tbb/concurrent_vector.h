// As <oneapi/tbb/concurrent_vector.h>.
#pragma once

#include <oneapi/tbb/concurrent_vector.h>
