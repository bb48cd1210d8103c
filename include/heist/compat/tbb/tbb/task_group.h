// As <oneapi/tbb/task_group.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/task_group.h"
