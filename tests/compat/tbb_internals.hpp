// What oneTBB's tests use of its internal headers, included before each of them.
#pragma once

#include <oneapi/tbb/detail/_template_helpers.h>
#include <oneapi/tbb/detail/_utils.h>

namespace tbb::detail::r1 {
std::size_t cache_line_size();
}
