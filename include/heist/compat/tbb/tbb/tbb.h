// As <oneapi/tbb.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb.h"
