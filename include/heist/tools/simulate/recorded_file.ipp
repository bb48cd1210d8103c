// Bodies of recorded_file.hpp.
#pragma once

#include "heist/tools/simulate/recorded_file.hpp"

#include <cerrno>   // errno
#include <cstddef>  // size_t
#include <fstream>

#include "heist/tools/simulate/fail.hpp"
#include "heist/tools/simulate/recorded_json.hpp"

namespace heist::sim {

HEIST_COLD_BODY void save(recorded_program const& recorded, std::string const& path) {
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

HEIST_COLD_BODY recorded_program load_recorded_program(std::string const& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  char part[4096];
  // Uses no iterator, which would throw an error of its own when a read fails.
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
