// As <oneapi/tbb/spin_mutex.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/spin_mutex.h"
