// Recordings of programs as files.
#pragma once

#include <cerrno>   // errno
#include <cstddef>  // size_t
#include <cstring>  // strerror
#include <fstream>
#include <string>

#include "heist/sim/recorded_json.hpp"
#include "heist/sim/recorded_program.hpp"
#include "heist/sim/sim_error.hpp"

namespace heist::sim {

/// Writes to_json(). Throws sim_error, which names the file, if it cannot be written.
inline void save(recorded_program const& recorded, std::string const& path) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (file) {
    file << to_json(recorded);
    file.close();
  }
  if (!file)
    detail::fail("cannot write the recording {}: {}; name a file in a directory that exists and has room", path,
                 errno != 0 ? std::strerror(errno) : "output error");
}

/// Reads what save() wrote. Throws sim_error, which names the file and what is wrong with it.
inline recorded_program load_recorded_program(std::string const& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char part[4096];
  // Not by an iterator, which throws an error of its own when a read fails.
  while (file.read(part, sizeof part), file.gcount() > 0) text.append(part, static_cast<std::size_t>(file.gcount()));
  if (!file.is_open() || file.bad())
    detail::fail("cannot read the recording {}: {}; name a file that exists", path,
                 errno != 0 ? std::strerror(errno) : "input error");
  try {
    return recorded_program_from_json(text);
  } catch (sim_error const& e) {
    detail::fail("{}: {}", path, e.what());
  }
}

}  // namespace heist::sim
