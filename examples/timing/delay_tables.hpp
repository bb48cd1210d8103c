// Two-dimensional tables of delay and output slew, as in cell libraries (NLDM). A formula makes them, and interpolation
// reads them. All numbers are integers, so every machine and every order of computation gives the same result.
#pragma once

#include "corners.hpp"

#include <array>
#include <bit>    // bit_width
#include <cmath>  // sqrt
#include <cstddef>
#include <cstdint>

namespace timing {

using femtoseconds = std::int64_t;

inline constexpr std::size_t rise = 0;
inline constexpr std::size_t fall = 1;

/// Points on each axis of a table. Both axes double from point to point, so a lookup needs no search.
inline constexpr std::size_t table_points = 7;
inline constexpr int least_slew_bits = 12;
inline constexpr femtoseconds least_slew = femtoseconds{1} << least_slew_bits;
inline constexpr femtoseconds most_slew = least_slew << (table_points - 1);
inline constexpr std::int64_t least_load = 512;  // attofarads, for size X1; X4 begins at four times as much

/// The position of a place between two points is in 1/65536.
inline constexpr int part_bits = 16;

struct table_point {
  std::int32_t delay;
  std::int32_t slew;
};

/// Delay and output slew at one corner: [input slew][load].
using delay_table = std::array<std::array<table_point, table_points>, table_points>;

/// All tables of one input pin of one cell: [edge of the output][corner].
using arc_tables = std::array<std::array<delay_table, most_corners>, 2>;

/// A place on the load axis: between `point` and the next point. Loads beyond the ends are extrapolated: `part` may be
/// negative, or more than one.
struct load_place {
  std::int64_t part = 0;
  std::size_t point = 0;
};

/// The place of `load` on the axis of a cell of that size.
inline load_place find_load(std::int64_t load, std::int64_t size) noexcept {
  auto const first = least_load * size;
  load_place found;
  while (found.point + 2 < table_points && load >= first << (found.point + 1)) ++found.point;
  auto const left = first << found.point;
  found.part = ((load - left) << part_bits) / left;  // the next point is twice as far
  return found;
}

/// A place on the slew axis, which slews never leave: see `clamp_slew`.
struct slew_place {
  std::int64_t part;
  std::size_t point;
};

inline slew_place find_slew(std::int32_t slew) noexcept {
  auto const doubled = static_cast<std::size_t>(std::bit_width(static_cast<std::uint32_t>(slew))) - least_slew_bits - 1;
  auto const point = doubled < table_points - 2 ? doubled : table_points - 2;
  auto const left = least_slew << point;
  return {((slew - left) << part_bits) >> (least_slew_bits + point), point};
}

constexpr std::int32_t clamp_slew(std::int64_t slew) noexcept {
  return static_cast<std::int32_t>(slew < least_slew ? least_slew : slew > most_slew ? most_slew : slew);
}

/// Interpolates from a to b by `part`, and rounds down.
constexpr std::int64_t between(std::int64_t a, std::int64_t b, std::int64_t part) noexcept {
  return a + (((b - a) * part) >> part_bits);
}

/// Interpolates the delay in a table: first along the load, then along the slew.
inline femtoseconds find_delay(delay_table const& table, slew_place const& s, load_place const& l) noexcept {
  auto const& row = table[s.point];
  auto const& next = table[s.point + 1];
  return between(between(row[l.point].delay, row[l.point + 1].delay, l.part),
                 between(next[l.point].delay, next[l.point + 1].delay, l.part), s.part);
}

inline std::int32_t find_output_slew(delay_table const& table, slew_place const& s, load_place const& l) noexcept {
  auto const& row = table[s.point];
  auto const& next = table[s.point + 1];
  return clamp_slew(between(between(row[l.point].slew, row[l.point + 1].slew, l.part),
                            between(next[l.point].slew, next[l.point + 1].slew, l.part), s.part));
}

/// The formula of the tables, with RC = resistance * load. The corner makes both edges slower or faster.
///
///   delay       = intrinsic     + sqrt(RC^2 + (input slew / 4)^2)
///   output slew = intrinsic / 2 + sqrt((3/2 RC)^2 + (input slew / 4)^2)
///
/// The load alone delays a fast edge. A slow edge adds its own slew, which weighs more with a light load.
inline table_point table_formula(femtoseconds intrinsic, std::int64_t resistance, std::int64_t load,
                                 femtoseconds input_slew, corner const& c, std::size_t edge) noexcept {
  auto const charging = (resistance * load / 1000 * c.load) >> 10;  // ohm * attofarad = femtosecond / 1000
  // Exact: the sums stay below 2^53, and sqrt rounds correctly.
  auto const length = [](std::int64_t x, std::int64_t y) {
    return static_cast<std::int64_t>(std::sqrt(static_cast<double>(x * x + y * y)));
  };
  auto const delay = intrinsic + length(charging, input_slew / 4);
  auto const slew = intrinsic / 2 + length(charging * 3 / 2, input_slew / 4);
  return {static_cast<std::int32_t>((delay * c.edge[edge]) >> 10),
          static_cast<std::int32_t>((slew * c.edge[edge]) >> 10)};
}

/// The tables of an input pin for `size` and its resistances [edge of the output].
inline arc_tables make_arc_tables(std::array<femtoseconds, 2> const& intrinsic,
                                  std::array<std::int64_t, 2> const& resistance, std::int64_t size) noexcept {
  arc_tables made{};
  for (std::size_t edge : {rise, fall}) {
    for (std::size_t c = 0; c < most_corners; ++c) {
      for (std::size_t s = 0; s < table_points; ++s) {
        for (std::size_t l = 0; l < table_points; ++l) {
          made[edge][c][s][l] = table_formula(intrinsic[edge], resistance[edge], (least_load * size) << l,
                                              least_slew << s, corners[c], edge);
        }
      }
    }
  }
  return made;
}

}  // namespace timing
