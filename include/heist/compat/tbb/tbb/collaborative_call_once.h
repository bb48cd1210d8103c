// As <oneapi/tbb/collaborative_call_once.h>.
#pragma once

#include "heist/compat/tbb/oneapi/tbb/collaborative_call_once.h"
