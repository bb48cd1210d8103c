// Recordings of programs as texts.
#pragma once

#include <string>
#include <string_view>

#include "heist/core/base/config.hpp"
#include "heist/tools/simulate/recorded_program.hpp"
#include "heist/tools/simulate/sim_error.hpp"

namespace heist::sim {

/// As JSON, a line for each task.
std::string to_json(recorded_program const& recorded);

/// Reads what to_json() wrote. Throws sim_error for a text that is cut, edited into something without sense, or of
/// another version.
recorded_program recorded_program_from_json(std::string_view text);

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/recorded_json.ipp"
#endif
