// As <oneapi/tbb/parallel_pipeline.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/parallel_pipeline.h"
