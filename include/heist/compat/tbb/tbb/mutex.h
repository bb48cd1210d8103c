// As <oneapi/tbb/mutex.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/mutex.h"
