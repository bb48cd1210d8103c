// As <oneapi/tbb/tick_count.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/tick_count.h"
