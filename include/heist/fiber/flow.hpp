// Which kind of flow the library runs on.
#pragma once

#include <type_traits>  // conditional_t

#include "heist/base/config.hpp"
#include "heist/fiber/boost_flow.hpp"
#include "heist/fiber/native_flow.hpp"

namespace heist::detail {

#if HEIST_NATIVE_SWITCH
using flow = native_flow;
#else
using flow = boost_flow;
#endif

}  // namespace heist::detail
