// Reads a whole file into a string.
#pragma once

#include <cstddef>  // size_t
#include <optional>
#include <string>

#include "heist/core/base/config.hpp"

namespace heist::topology::detail {

/// The file's text; nothing if it cannot be read or is longer than `limit`. Takes no size from the file system, so it
/// reads /proc as well. errno tells why, or is 0 if the file is too long.
std::optional<std::string> read_file(std::string const& path, std::size_t limit);

}  // namespace heist::topology::detail

#if HEIST_HEADER_ONLY
#include "heist/core/topology/read_file.ipp"
#endif
