// As <oneapi/tbb/parallel_invoke.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/parallel_invoke.h"
