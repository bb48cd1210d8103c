// As <oneapi/tbb/info.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/info.h"
