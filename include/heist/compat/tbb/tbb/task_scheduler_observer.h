// As <oneapi/tbb/task_scheduler_observer.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/task_scheduler_observer.h"
