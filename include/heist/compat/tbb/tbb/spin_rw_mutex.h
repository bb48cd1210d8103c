// As <oneapi/tbb/spin_rw_mutex.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/spin_rw_mutex.h"
