// What heist is in this process, and what its executors take from the environment.
#pragma once

#include <string>

#include "heist/base/config.hpp"
#include "heist/sched/display.hpp"

namespace heist {

/// What heist is in this process, for people: version, build, machine, and what an executor with options{} gets. A line for
/// each environment variable has its value, and says whether the environment sets it. The first executor prints it on stderr
/// if HEIST_DISPLAY_ENV is 1.
///
/// Cost  looks at the machine: some milliseconds the first time.
std::string configuration_text();

namespace detail {

HEIST_RARE void print_configuration();
inline bool const configuration_is_there = (display::print = &print_configuration, true);

}  // namespace detail
}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/sched/configuration.ipp"
#endif
