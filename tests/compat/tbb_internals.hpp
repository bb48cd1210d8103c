// The internal headers of oneTBB that its tests need. Each test has this file before it.
#pragma once

#include <oneapi/tbb/detail/_template_helpers.h>
#include <oneapi/tbb/detail/_utils.h>

namespace tbb::detail::r1 {
std::size_t cache_line_size();
}
