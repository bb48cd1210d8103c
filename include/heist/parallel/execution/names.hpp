// Where std::execution comes from.
#pragma once

#include <version>

#if defined(__cpp_lib_senders)
#include <execution>
#elif __has_include(<stdexec/execution.hpp>)
#include <stdexec/execution.hpp>
#endif

namespace heist::detail {

#if defined(__cpp_lib_senders)
namespace execution = ::std::execution;
#elif __has_include(<stdexec/execution.hpp>)
namespace execution = ::stdexec;
#endif

}  // namespace heist::detail
