// CATS's memory of a region's first run (Chen et al., ICS 2012, section 3.2): every task by its path, the data that it
// and its subtree touch, and the tier that follows from the data.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>  // uint32_t, uint64_t
#include <string>
#include <string_view>
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/locality/policy/profile_data.hpp"

namespace heist {

/// The memory of a region under policy::cats. A regular value that does not change; its contents are consistent:
///
///   entries    form one tree; no two have the same path; soid_bytes obeys Eq. 1
///   two_tiers  at least two squads; the root is inter; inter tasks have children that are inter or leaf_inter; all
///              below leaf_inter is intra
///   otherwise  every entry is intra
///
/// Threads: const members may be called by all threads at once.
class region_profile {
 public:
  static constexpr std::uint32_t no_entry = ~std::uint32_t{0};
  static constexpr std::uint32_t root = 0;

  /// Of a region that has not been profiled.
  region_profile() = default;
  /// Throws region_error, which names the inconsistency. Cost: O(entries).
  explicit region_profile(profile_data data);

  profile_data const& data() const noexcept { return data_; }
  bool empty() const noexcept { return data_.entries.empty(); }
  std::size_t size() const noexcept { return data_.entries.size(); }
  profile_entry const& operator[](std::uint32_t entry) const noexcept { return data_.entries[entry]; }

  /// The entry of the `index`-th task that the task of entry `parent` spawned. Returns no_entry if the first run had no
  /// such task, or if `parent` is no_entry. Cost: a multiplication and, mostly, one probe.
  ///
  /// The paper's identifier of a task is the string of spawn indices from the root to it. Here a parent's entry number
  /// stands for its string. Entries and paths are one to one (by induction, as equal keys are refused), so the pair
  /// (parent's entry, index) is the path itself and not a digest of it. Two paths never share a pair; pairs that share
  /// a slot are told apart by comparing both numbers.
  std::uint32_t lookup(std::uint32_t parent, std::uint32_t index) const noexcept;

  profile_decision decision() const noexcept { return data_.decision; }
  profile_source source() const noexcept { return data_.source; }
  /// One sentence: what the verdict is and why.
  std::string const& explain() const noexcept { return data_.note; }
  /// Why this source and no better one.
  std::string const& source_note() const noexcept { return data_.source_note; }
  /// True if the profile was made for a machine with so many squads that share so much. A profile of another machine is
  /// of no use, as its tiers follow from these two numbers.
  bool made_for(std::uint64_t squads, std::uint64_t shared_cache_bytes) const noexcept;
  /// How many tasks are in this tier.
  std::size_t count(task_tier tier) const noexcept;

  /// A table for people: the inter tier as an indented tree, at most `rows` tasks of it, each leaf inter-squad task
  /// with the number of intra-squad tasks below it.
  std::string text(std::size_t rows = 200) const;

  /// The whole profile as JSON, a line per task.
  std::string to_json() const;
  /// Reads what to_json() wrote; throws region_error with a sentence if the text is cut, of another version or
  /// inconsistent. Whether it fits this machine is for made_for().
  static region_profile from_json(std::string_view text);

  friend bool operator==(region_profile const& a, region_profile const& b) { return a.data_ == b.data_; }

 private:
  void check() const;
  void fill_slots();

  void check_sums() const;

  /// Fibonacci hashing: the upper bits of a product. The table is never more than half full.
  std::size_t scheduler(std::uint32_t parent, std::uint32_t index) const noexcept;

  profile_data data_;
  std::vector<std::uint32_t> slots_;  ///< entry numbers; a power of two of them, 2^(64 - shift_)
  unsigned shift_ = 63;
};

namespace detail {

/// "17 B", "1.5 KiB", "12 MiB": one decimal unless it is 0.
std::string short_bytes(std::uint64_t bytes);

}  // namespace detail

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/locality/policy/profile.ipp"
#endif
