// As <oneapi/tbb/parallel_scan.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/parallel_scan.h"
