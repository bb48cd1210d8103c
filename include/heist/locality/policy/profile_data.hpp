// The plain data of CATS: the record of a region's first run, and the results computed from it (Chen et al., ICS 2012,
// section 3.2). profile.hpp checks and searches it, cats.hpp makes it.
#pragma once

#include <cstdint>  // uint8_t, uint32_t, uint64_t
#include <string>
#include <string_view>
#include <vector>

namespace heist {

/// The counts of one task itself, its children's excluded.
struct task_counts {
  std::uint64_t private_misses = 0;  ///< misses of the last private data cache of its core
  std::uint64_t l1_misses = 0;
  std::uint64_t instructions = 0;
  std::uint64_t ticks = 0;           ///< os_env::ticks
  std::uint64_t declared_bytes = 0;  ///< by ctx.footprint()
};

/// A task of the first run as the scheduler recorded it. Its number is its place in the recording.
struct profiled_task {
  static constexpr std::uint32_t no_parent = ~std::uint32_t{0};

  std::uint32_t parent = no_parent;  ///< number of the task that spawned it; no_parent for the root
  std::uint32_t index = 0;           ///< how many tasks its parent had spawned before it
  void const* function = nullptr;    ///< equal for equal code; null equals nothing
  task_counts own;
  std::uint32_t squad = 0;  ///< that ran it
};

/// Where the numbers of a profile come from.
enum class profile_source : std::uint8_t {
  hardware,   ///< misses of the last private cache, times the size of a line: the paper's
  footprint,  ///< bytes that the tasks declared by ctx.footprint()
  time,       ///< the region's declared bytes, spread over the tasks in proportion to their own time
  none
};

enum class task_tier : std::uint8_t {
  inter,       ///< taken by head workers from squad to squad; its children are inter or leaf_inter
  leaf_inter,  ///< so is this, but its whole subtree stays in the squad that got it
  intra        ///< in the subtree of a leaf_inter task; every task where the verdict is not two_tiers
};

/// A profile's meaning for the next runs. All but two_tiers mean traditional stealing.
enum class profile_decision : std::uint8_t {
  two_tiers,
  cpu_bound,               ///< most tasks miss the caches too seldom for placement to matter (section 3.5)
  not_divide_and_conquer,  ///< no task runs the function of one of its ancestors (section 4.4)
  nothing_measured,        ///< no source has numbers, or none that could be divided
  one_squad
};

namespace detail {

inline constexpr std::string_view source_words[] = {"hardware", "footprint", "time", "none"};
inline constexpr std::string_view tier_words[] = {"inter", "leaf_inter", "intra"};
inline constexpr std::string_view decision_words[] = {"two_tiers", "cpu_bound", "not_divide_and_conquer",
                                                      "nothing_measured", "one_squad"};

/// Stays at the largest number instead of starting again at 0.
constexpr std::uint64_t add_saturated(std::uint64_t a, std::uint64_t b) noexcept {
  return a + b < a ? ~std::uint64_t{0} : a + b;
}
constexpr std::uint64_t multiply_saturated(std::uint64_t a, std::uint64_t b) noexcept {
  return a != 0 && b > ~std::uint64_t{0} / a ? ~std::uint64_t{0} : a * b;
}

}  // namespace detail

constexpr std::string_view to_string(profile_source s) noexcept {
  return detail::source_words[static_cast<int>(s)];
}
constexpr std::string_view to_string(task_tier t) noexcept {
  return detail::tier_words[static_cast<int>(t)];
}
constexpr std::string_view to_string(profile_decision v) noexcept {
  return detail::decision_words[static_cast<int>(v)];
}

/// A task in a profile.
struct profile_entry {
  std::uint32_t parent = ~std::uint32_t{0};  ///< number of its parent's entry; region_profile::no_entry for the root
  std::uint32_t index = 0;                   ///< spawn index in its parent
  std::uint64_t own_bytes = 0;               ///< touched by the task itself
  std::uint64_t soid_bytes = 0;              ///< size of involved data: its own and its children's SOIDs (Eq. 1)
  task_tier tier = task_tier::intra;

  friend bool operator==(profile_entry const&, profile_entry const&) = default;
};

/// The contents of a profile, as a plain struct.
struct profile_data {
  std::uint64_t squads = 0;              ///< M of the machine that it was made for
  std::uint64_t shared_cache_bytes = 0;  ///< S_c of one of its squads; 0 unknown
  std::uint64_t limit_bytes = 0;         ///< tasks with more data than this were divided
  profile_source source = profile_source::none;
  std::string source_note = "no run has been profiled";  ///< why this source
  profile_decision decision = profile_decision::nothing_measured;
  std::string note = "traditional stealing because no run has been profiled";  ///< the verdict as a sentence
  std::vector<profile_entry> entries;  ///< parents stand before their children; the root is first

  friend bool operator==(profile_data const&, profile_data const&) = default;
};

}  // namespace heist
