// Reads a whole file into a string.
#pragma once

#include <cstddef>  // size_t
#include <string>

#include "heist/core/base/config.hpp"

namespace heist::topology::detail {

/// Reads the file's text into `text`. False: it cannot be read or is longer than `limit`, and `text` is empty. Takes no
/// size from the file system, so it reads /proc as well. errno tells why, or is 0 if the file is too long.
bool read_file(std::string const& path, std::size_t limit, std::string& text);

}  // namespace heist::topology::detail

#if HEIST_HEADER_ONLY
#include "heist/core/topology/read_file.ipp"
#endif
