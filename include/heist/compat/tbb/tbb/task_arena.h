// As <oneapi/tbb/task_arena.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/task_arena.h"
