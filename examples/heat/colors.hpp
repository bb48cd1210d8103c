// The colours of temperatures and of squads.
#pragma once

#include <algorithm>  // min
#include <array>
#include <cmath>    // fmod, round
#include <cstddef>  // size_t
#include <cstdint>
#include <string_view>

#include "image.hpp"

namespace heat {
namespace detail {

inline color mixed(color a, color b, double share_of_b) {
  auto const channel = [&](std::uint8_t x, std::uint8_t y) {
    return static_cast<std::uint8_t>(std::round(x + (y - x) * share_of_b));
  };
  return {channel(a.red, b.red), channel(a.green, b.green), channel(a.blue, b.blue)};
}

/// Converts from HSV. A hue of 1 is the full circle.
inline color of_hue(double hue, double saturation, double value) {
  auto const channel = [&](double shift) {
    double const k = std::fmod(shift + 6 * hue, 6.0);
    double const ramp = std::min({k, 4 - k, 1.0});
    return static_cast<std::uint8_t>(std::round(255 * value * (1 - saturation * (ramp > 0 ? ramp : 0))));
  };
  return {channel(5), channel(3), channel(1)};
}

}  // namespace detail

/// The colour for a share from 0 (coldest) to 1 (hottest): from night blue to pale yellow, like glowing metal. It grows
/// lighter all the way, so the scale is readable in grey, too.
inline color temperature_color(double share) {
  constexpr std::array<color, 7> glow{
      {{6, 6, 26}, {46, 22, 96}, {116, 32, 110}, {184, 52, 86}, {232, 102, 38}, {250, 176, 46}, {254, 250, 204}}};
  if (!(share > 0)) return glow.front();
  if (share >= 1) return glow.back();
  double const place = share * (glow.size() - 1);
  auto const below = static_cast<std::size_t>(place);
  return detail::mixed(glow[below], glow[below + 1], place - static_cast<double>(below));
}

struct named_color {
  color value;
  std::string_view name;
};

/// The colours of the first squads. Colour-blind people can distinguish the first eight, too.
inline constexpr std::array<named_color, 16> first_colors{{{{0, 105, 180}, "blue"},
                                                           {{235, 150, 0}, "orange"},
                                                           {{0, 150, 110}, "green"},
                                                           {{200, 90, 160}, "pink"},
                                                           {{95, 190, 240}, "light blue"},
                                                           {{205, 65, 0}, "red"},
                                                           {{240, 225, 70}, "yellow"},
                                                           {{70, 70, 70}, "grey"},
                                                           {{110, 60, 170}, "violet"},
                                                           {{150, 220, 120}, "light green"},
                                                           {{150, 95, 55}, "brown"},
                                                           {{255, 175, 175}, "rose"},
                                                           {{20, 30, 110}, "navy"},
                                                           {{140, 0, 60}, "wine"},
                                                           {{0, 80, 40}, "dark green"},
                                                           {{170, 170, 170}, "light grey"}}};

/// The colour of a squad or a worker. Consecutive numbers have very different hues.
inline color placement_color(std::size_t id) {
  if (id < first_colors.size()) return first_colors[id].value;
  constexpr double golden = 0.6180339887498949;
  double const hue = std::fmod(static_cast<double>(id) * golden, 1.0);
  return detail::of_hue(hue, id % 2 == 0 ? 0.9 : 0.45, id % 3 == 0 ? 0.95 : id % 3 == 1 ? 0.7 : 0.5);
}

/// A name such as "blue"; empty for colours without a name.
inline std::string_view placement_color_name(std::size_t id) {
  return id < first_colors.size() ? first_colors[id].name : std::string_view{};
}

}  // namespace heat
