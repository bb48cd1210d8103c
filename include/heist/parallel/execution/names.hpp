// Where std::execution comes from: the standard library, or the program's stdexec.
#pragma once

#include <version>

#if defined(__cpp_lib_senders)
#include <execution>
#include <stop_token>
#elif __has_include(<stdexec/execution.hpp>)
#include <stdexec/execution.hpp>
#endif

namespace heist::detail {

#if defined(__cpp_lib_senders)
namespace execution = ::std::execution;
namespace stop_tokens = ::std;
#elif defined(STDEXEC)  // a macro that names stdexec's namespace; a program may choose another one
namespace execution = ::STDEXEC;
namespace stop_tokens = ::STDEXEC;
#elif __has_include(<stdexec/execution.hpp>)
namespace execution = ::stdexec;
namespace stop_tokens = ::stdexec;
#endif

}  // namespace heist::detail
