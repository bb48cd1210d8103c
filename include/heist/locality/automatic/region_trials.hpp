// The runs of a region under policy::automatic: which way it is run next, and what each way remembers of it.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <memory>  // unique_ptr
#include <string>
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/locality/automatic/ways.hpp"
#include "heist/locality/region/region.hpp"

namespace heist::detail {

/// Kept by the region.
///
/// Threads  by the region's run.
class region_trials {
 public:
  region_trials(core& scheduler, others& by);

  std::uint64_t executor() const noexcept { return executor_; }
  /// Chooses a way for the next run of `r`, and makes it ready. Throws bad_alloc.
  std::size_t begin(region const& r);
  /// How the chosen way divides it, if the executor runs it itself.
  tier_mode tiers() const noexcept { return ways_for_regions[way_].tiers; }
  /// Which other one does, if not.
  core* there() const noexcept { return there_; }
  /// The memory of that way; random has none.
  region& memory() const noexcept { return *histories_[way_]; }
  /// Reports that the run has ended well.
  void ran(std::int64_t nanoseconds);
  void note(region_access const& in) const;

 private:
  bool make_ready(std::size_t way, region const& r);
  bool follow(std::size_t way);
  std::string name_of_best() const;

  others& others_;
  std::uint64_t const executor_;
  tuner tuner_;
  std::vector<std::unique_ptr<region>> histories_;  ///< by way
  std::vector<std::size_t> recorded_;               ///< replay: recorded runs without steals, or is_followed
  std::size_t way_ = 0;
  core* there_ = nullptr;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/automatic/region_trials.ipp"
#endif
