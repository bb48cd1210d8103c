// Bodies of read_file.hpp.
#pragma once

#include "heist/core/topology/read_file.hpp"

#include <cerrno>  // errno
#include <cstdio>  // fopen, fread
#include <memory>  // unique_ptr

namespace heist::topology::detail {

struct file_closer {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

HEIST_COLD_BODY std::optional<std::string> read_file(std::string const& path, std::size_t limit) {
  errno = 0;
  std::unique_ptr<std::FILE, file_closer> const file(std::fopen(path.c_str(), "re"));
  if (!file) return std::nullopt;
  std::string text;
  char buffer[4096];
  while (std::size_t const n = std::fread(buffer, 1, sizeof buffer, file.get())) {
    if (text.size() + n > limit) {
      errno = 0;
      return std::nullopt;
    }
    text.append(buffer, n);
  }
  if (std::ferror(file.get()) != 0) return std::nullopt;
  return text;
}

}  // namespace heist::topology::detail
