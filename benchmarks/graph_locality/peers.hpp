// The same tasks in other libraries' graphs, which are built once.
#pragma once

#include <functional>

#include "problem.hpp"

namespace graph_locality {

std::function<void()> of_taskflow(problem& p, unsigned workers);
std::function<void()> of_tbb(problem& p, unsigned workers);

}  // namespace graph_locality
