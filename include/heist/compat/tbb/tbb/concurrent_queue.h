// As <oneapi/tbb/concurrent_queue.h>.
#pragma once

#include <oneapi/tbb/concurrent_queue.h>
