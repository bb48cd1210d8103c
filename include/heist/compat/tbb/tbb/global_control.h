// As <oneapi/tbb/global_control.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/global_control.h"
