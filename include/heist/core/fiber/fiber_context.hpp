// Which kind of context the library runs on.
#pragma once

#include <type_traits>  // conditional_t

#include "heist/core/base/config.hpp"
#include "heist/core/fiber/boost_fiber_context.hpp"
#include "heist/core/fiber/native_fiber_context.hpp"

namespace heist::detail {

#if HEIST_NATIVE_SWITCH
using fiber_context = native_fiber_context;
#else
using fiber_context = boost_fiber_context;
#endif

}  // namespace heist::detail
