// As <oneapi/tbb/enumerable_thread_specific.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/enumerable_thread_specific.h"
