// As <oneapi/tbb/null_mutex.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/null_mutex.h"
