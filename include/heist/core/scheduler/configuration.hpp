// Describes heist in this process: its build, the machine, and the environment variables.
#pragma once

#include <string>

#include "heist/core/base/config.hpp"
#include "heist/core/scheduler/display.hpp"

namespace heist {

/// Describes heist in this process, for people: version, build and machine, and the workers of an executor with options{}. Each
/// environment variable has a line with its value, which says if the environment sets it. The first executor prints this text
/// on stderr if HEIST_DISPLAY_ENV is 1.
///
/// Cost  looks at the machine: some milliseconds the first time.
std::string configuration_text();

namespace detail {

HEIST_RARE void print_configuration();
inline bool const configuration_is_there = (display::print = &print_configuration, true);

}  // namespace detail
}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/core/scheduler/configuration.ipp"
#endif
