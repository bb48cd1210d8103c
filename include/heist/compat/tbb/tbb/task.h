// As <oneapi/tbb/task.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/task.h"
