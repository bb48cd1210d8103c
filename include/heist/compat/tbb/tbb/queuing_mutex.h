// As <oneapi/tbb/queuing_mutex.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/queuing_mutex.h"
