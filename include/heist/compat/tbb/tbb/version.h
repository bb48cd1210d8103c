// As <oneapi/tbb/version.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/version.h"
