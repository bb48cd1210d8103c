// As <oneapi/tbb/combinable.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/combinable.h"
