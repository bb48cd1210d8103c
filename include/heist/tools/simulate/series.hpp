// The workers' activities, at equal intervals, in a simulation whose length is not known before.
#pragma once

#include <cstddef>  // size_t
#include <utility>  // move
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/tools/simulate/report.hpp"

namespace heist::sim {

/// Keeps at most `most` samples: when there are too many it drops every second one and doubles the interval.
class series {
 public:
  explicit series(std::size_t most) : most_{most < 2 ? 2 : most} {}

  /// Nothing has changed since the call before, up to `now`.
  void advance_to(ticks now, sample const& as_it_is) {
    while (next_ < now) add(as_it_is);
  }
  ticks interval() const noexcept { return interval_; }
  std::vector<sample> take() noexcept { return std::move(samples_); }

 private:
  void add(sample s);

  std::size_t const most_;
  ticks interval_ = 1, next_ = 0;
  std::vector<sample> samples_;
};

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/series.ipp"
#endif
