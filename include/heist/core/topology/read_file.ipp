// Bodies of read_file.hpp.
#pragma once

#include "heist/core/topology/read_file.hpp"

#include <cerrno>  // errno
#include <cstdio>  // fopen, fread

#include "heist/core/base/unique_ptr.hpp"

namespace heist::topology::detail {

struct file_closer {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

HEIST_COLD_BODY bool read_file(std::string const& path, std::size_t limit, std::string& text) {
  errno = 0;
  heist::detail::unique_ptr<std::FILE, file_closer> const file(std::fopen(path.c_str(), "re"));
  text.clear();
  if (!file) return false;
  char buffer[4096];
  while (std::size_t const n = std::fread(buffer, 1, sizeof buffer, file.get())) {
    if (text.size() + n > limit) {
      text.clear();
      errno = 0;
      return false;
    }
    text.append(buffer, n);
  }
  if (std::ferror(file.get()) == 0) return true;
  text.clear();
  return false;
}

}  // namespace heist::topology::detail
