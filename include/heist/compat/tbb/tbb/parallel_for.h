// As <oneapi/tbb/parallel_for.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/parallel_for.h"
