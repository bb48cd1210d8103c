// As _config.h.
#pragma once

#include "oneapi/tbb/detail/_config.h"
