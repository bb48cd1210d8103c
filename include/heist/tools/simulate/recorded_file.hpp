// Recordings of programs as files.
#pragma once

#include <cstring>  // strerror
#include <string>

#include "heist/core/base/config.hpp"
#include "heist/tools/simulate/recorded_program.hpp"
#include "heist/tools/simulate/sim_error.hpp"

namespace heist::sim {

/// Writes to_json(). Throws sim_error, which names the file, if it cannot be written.
void save(recorded_program const& recorded, std::string const& path);

/// Reads what save() wrote. Throws sim_error, which names the file and its fault.
recorded_program load_recorded_program(std::string const& path);

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/recorded_file.ipp"
#endif
