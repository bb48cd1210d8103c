// A picture in memory: pixels, rectangles, numbers.
#pragma once

#include <array>
#include <cstddef>  // size_t
#include <cstdint>
#include <string_view>
#include <vector>

namespace heat {

struct color {
  std::uint8_t red = 0, green = 0, blue = 0;
  friend bool operator==(color const&, color const&) = default;
};

inline constexpr color white{255, 255, 255}, black{0, 0, 0};

/// Width and height of one dot of text, in pixels. A glyph has 3 x 5 dots.
inline constexpr std::size_t dot = 2;
inline constexpr std::size_t text_height = 5 * dot;
inline constexpr std::size_t text_width(std::string_view text) {
  return text.size() * 4 * dot;
}

class image {
 public:
  image(std::size_t width, std::size_t height, color background = white)
      : width_{width}, height_{height}, pixels_(width * height, background) {}

  std::size_t width() const noexcept { return width_; }
  std::size_t height() const noexcept { return height_; }
  color at(std::size_t x, std::size_t y) const { return pixels_[y * width_ + x]; }
  /// Row by row, from the top.
  std::vector<color> const& pixels() const noexcept { return pixels_; }

  /// Fills the part of the rectangle that is inside the picture.
  void fill(std::size_t left, std::size_t top, std::size_t width, std::size_t height, color c) {
    for (std::size_t y = top; y < top + height && y < height_; ++y) {
      for (std::size_t x = left; x < left + width && x < width_; ++x) pixels_[y * width_ + x] = c;
    }
  }

  /// Draws digits, '.' and '-' in black; other characters are blanks.
  void write(std::size_t left, std::size_t top, std::string_view text) {
    for (char const c : text) {
      auto const lines = glyph(c);
      for (std::size_t y = 0; y < lines.size(); ++y) {
        for (std::size_t x = 0; x < 3; ++x) {
          if ((lines[y] >> (2 - x) & 1) != 0) fill(left + x * dot, top + y * dot, dot, dot, black);
        }
      }
      left += 4 * dot;
    }
  }

 private:
  /// Five lines of three dots.
  static constexpr std::array<std::uint8_t, 5> glyph(char c) {
    constexpr std::array<std::array<std::uint8_t, 5>, 10> digits{{{7, 5, 5, 5, 7},
                                                                  {2, 6, 2, 2, 7},
                                                                  {7, 1, 7, 4, 7},
                                                                  {7, 1, 3, 1, 7},
                                                                  {5, 5, 7, 1, 1},
                                                                  {7, 4, 7, 1, 7},
                                                                  {7, 4, 7, 5, 7},
                                                                  {7, 1, 2, 2, 2},
                                                                  {7, 5, 7, 5, 7},
                                                                  {7, 5, 7, 1, 7}}};
    if (c >= '0' && c <= '9') return digits[static_cast<std::size_t>(c - '0')];
    if (c == '-') return {0, 0, 7, 0, 0};
    if (c == '.') return {0, 0, 0, 0, 2};
    return {};
  }

  std::size_t width_, height_;
  std::vector<color> pixels_;
};

}  // namespace heat
