// The result of a measurement of work and span: parallelism, and the speedup that it allows.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <string>

#include "heist/core/base/config.hpp"

namespace heist {

/// A range for the speedup on some number of workers, relative to one.
struct speedup_range {
  double low;   ///< parallel and sequential parts alternate
  double high;  ///< the parallelism is the same all the time
};

/// Work, span and parallelism of one run of a fork/join program (Wool, Table 1). Times are in ticks of the clock that
/// it was measured with.
struct work_span_profile {
  std::uint64_t work = 0;           ///< T1: all strands together
  std::uint64_t span = 0;           ///< T-infinity: the longest chain of strands
  std::uint64_t burdened_span = 0;  ///< the same if each steal on the chain takes steal_cost
  std::uint64_t tasks = 0;          ///< children that may run elsewhere: all but the first of each fork
  std::uint64_t strands = 0;        ///< stretches between forks and joins that were measured
  std::uint64_t steal_cost = 0;
  std::uint64_t empty_strand = 0;  ///< measured time of an empty strand: each strand is so much too long

  /// T1 / T-infinity: the average number of workers that can be busy.
  double parallelism() const noexcept { return ratio(work, span); }
  double burdened_parallelism() const noexcept { return ratio(work, burdened_span); }
  /// Work per task; the root is a task, too.
  double task_size() const noexcept { return ratio(work, tasks + 1); }

  /// The bounds of section 5.2: T1 / (T-infinity + T1/p) and T1 / max(T-infinity, T1/p).
  speedup_range speedup(std::size_t workers) const noexcept { return speedup_with(span, workers); }
  speedup_range burdened_speedup(std::size_t workers) const noexcept { return speedup_with(burdened_span, workers); }

  /// The profile as a few lines of text.
  std::string text() const;

  friend bool operator==(work_span_profile const&, work_span_profile const&) = default;

 private:
  static double ratio(std::uint64_t a, std::uint64_t b) noexcept;
  speedup_range speedup_with(std::uint64_t longest, std::size_t workers) const noexcept;
};

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/tools/measure/work_span_profile.ipp"
#endif
