// Parses arguments of the command line. Every error message states the fault and a correct form.
#pragma once

#include <fmt/format.h>

#include <charconv>  // from_chars
#include <cmath>     // isfinite
#include <cstddef>   // size_t
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>  // errc
#include <vector>

#include "plate.hpp"

namespace heat {

/// An argument that cannot be read.
struct argument_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

namespace detail {

/// `text` for a message: cut to 60 characters, with '?' instead of bytes that a terminal might interpret.
inline std::string printable(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string visible{text.substr(0, longest)};
  for (char& c : visible) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text.size() > longest ? visible + "..." : visible;
}

/// Returns true if the whole text is a number within the bounds. `value` is then that number.
template <class Number>
bool read_number(std::string_view text, Number least, Number most, Number& value) {
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() && value >= least && value <= most;
}

inline std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (;;) {
    auto const end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace detail

inline constexpr double most_degrees = 9999;  // the space beside the picture has room for it

/// Parses "512" or "600x800" into rows and columns.
inline void read_size(std::string const& text, plate_description& into) {
  auto const parts = detail::split(text, 'x');
  std::size_t sides[2] = {0, 0};
  bool good = parts.size() <= 2;
  for (std::size_t i = 0; good && i < parts.size(); ++i) {
    good = detail::read_number(parts[i], plate_description::min, plate_description::most, sides[i]);
  }
  if (!good) {
    throw argument_error{
        fmt::format("'{}' is no size: give the cells of a side, or rows x columns such as 600x800, each from {} to {}",
                    detail::printable(text), plate_description::min, plate_description::most)};
  }
  into.rows = sides[0];
  into.columns = parts.size() == 2 ? sides[1] : sides[0];
}

/// Parses a text such as "top=100".
inline void read_edge(std::string const& text, edge_temperatures& into) {
  auto const parts = detail::split(text, '=');
  double degrees = 0;
  double* const side = parts[0] == "top"      ? &into.top
                       : parts[0] == "right"  ? &into.right
                       : parts[0] == "bottom" ? &into.bottom
                       : parts[0] == "left"   ? &into.left
                                              : nullptr;
  if (side == nullptr || parts.size() != 2 || !detail::read_number(parts[1], -most_degrees, most_degrees, degrees)) {
    throw argument_error{
        fmt::format("'{}' is no edge: give top, right, bottom or left, '=', and degrees from {} to {}, such as left=50",
                    detail::printable(text), -most_degrees, most_degrees)};
  }
  *side = degrees;
}

/// Parses a text such as "50,30,5,400": x and y of the centre and the radius in percent, then degrees.
inline spot read_spot(std::string const& text) {
  auto const parts = detail::split(text, ',');
  spot s;
  double* const values[] = {&s.x, &s.y, &s.radius, &s.degrees};
  bool good = parts.size() == 4;
  for (std::size_t i = 0; good && i < 4; ++i) {
    good = i < 3 ? detail::read_number(parts[i], 0.0, 100.0, *values[i])
                 : detail::read_number(parts[i], -most_degrees, most_degrees, *values[i]);
  }
  if (!good) {
    throw argument_error{fmt::format(
        "'{}' is no spot: give X,Y,RADIUS,DEGREES, the first three in percent of the plate, such as 50,30,5,400",
        detail::printable(text))};
  }
  return s;
}

/// Parses the largest change at which a plate counts as settled. CLI::Range would accept "nan".
inline double read_tolerance(std::string const& text) {
  double value = 0;
  if (!detail::read_number(text, 0.0, most_degrees, value) || value <= 0) {
    throw argument_error{
        fmt::format("'{}' is no tolerance: give degrees above 0, such as 0.001", detail::printable(text))};
  }
  return value;
}

}  // namespace heat
