// As <oneapi/tbb/rw_mutex.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/rw_mutex.h"
