// rw_mutex.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/mutex.h"
