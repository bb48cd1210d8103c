// The bodies on Boost.Context.
#include "fuzz/differential/on_boost.hpp"
// After it.
#include "fuzz/differential/subjects/walk_any.cpp"
