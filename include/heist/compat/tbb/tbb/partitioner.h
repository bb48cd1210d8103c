// As <oneapi/tbb/partitioner.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/partitioner.h"
