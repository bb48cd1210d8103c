// Process corners: a circuit is timed for all of them at once, since a chip must work in each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace timing {

/// Factors, in 1/1024, for the table's values: the delay of rising and falling edges, and the part that the load
/// causes.
struct corner {
  std::string_view name;
  std::array<std::int64_t, 2> edge;
  std::int64_t load;
};

/// Slow and fast transistors, both kinds alike or opposed, with typical and with slow wires. Plausible, not measured.
inline constexpr auto corners = std::to_array<corner>({
    {"typical", {1024, 1024}, 1024},
    {"slow", {1311, 1311}, 1075},
    {"fast", {799, 799}, 983},
    {"slow-p", {1239, 942}, 1024},
    {"slow-n", {942, 1239}, 1024},
    {"typical, slow wires", {1024, 1024}, 1229},
    {"slow, slow wires", {1311, 1311}, 1290},
    {"fast, slow wires", {799, 799}, 1180},
});

inline constexpr std::size_t most_corners = corners.size();

}  // namespace timing
