// Writes a picture as a PNG file, by libpng.
#pragma once

#include <fmt/format.h>
#include <png.h>

#include <cerrno>
#include <cstdio>
#include <cstring>  // strerror
#include <memory>
#include <stdexcept>  // runtime_error
#include <string>

#include "image.hpp"

namespace heat {

/// A file that cannot be written.
struct file_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace detail {

struct close_file {
  void operator()(std::FILE* f) const noexcept { std::fclose(f); }
};

inline std::unique_ptr<std::FILE, close_file> open_file(std::string const& path, char const* mode) {
  std::unique_ptr<std::FILE, close_file> file{std::fopen(path.c_str(), mode)};
  if (file == nullptr) {
    throw file_error{fmt::format("{}: the file cannot be written: {}; name one in a folder that exists and is yours",
                                 path, std::strerror(errno))};
  }
  return file;
}

}  // namespace detail

/// Throws file_error if the file cannot be written. Creates an empty file if there is none.
inline void expect_writable(std::string const& path) {
  detail::open_file(path, "ab");
}

/// Throws file_error on failure. The incomplete file then remains.
inline void write_png(std::string const& path, image const& drawing) {
  static_assert(sizeof(color) == 3, "libpng reads three bytes for a pixel");
  auto file = detail::open_file(path, "wb");
  png_image header{};
  header.version = PNG_IMAGE_VERSION;
  header.format = PNG_FORMAT_RGB;
  header.width = static_cast<png_uint_32>(drawing.width());
  header.height = static_cast<png_uint_32>(drawing.height());
  bool const is_encoded = png_image_write_to_stdio(&header, file.get(), 0, drawing.pixels().data(), 0, nullptr) != 0;
  if (!is_encoded) {
    std::string const why = header.message;
    png_image_free(&header);
    throw file_error{fmt::format("{}: the picture cannot be written: {}", path, why)};
  }
  if (std::fclose(file.release()) != 0) {
    throw file_error{fmt::format("{}: the picture cannot be written completely: {}; is there space left?", path,
                                 std::strerror(errno))};
  }
}

}  // namespace heat
