// As <oneapi/tbb/concurrent_priority_queue.h>.
#pragma once

#include <oneapi/tbb/concurrent_priority_queue.h>
