// What the workers are doing, at equal intervals, of a simulation whose length nobody knows before.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <utility>  // move
#include <vector>

#include "heist/sim/report.hpp"

namespace heist::sim {

/// Keeps at most `most` samples: when there are too many it drops every second one and doubles the interval.
class series {
 public:
  explicit series(std::size_t most) : most_{most < 2 ? 2 : most} {}

  /// Nothing has changed since the call before, up to `now`.
  void reach(ticks now, sample const& as_it_is) {
    while (next_ < now) add(as_it_is);
  }
  ticks interval() const noexcept { return interval_; }
  std::vector<sample> take() noexcept { return std::move(samples_); }

 private:
  void add(sample s) {
    s.time = next_;
    samples_.push_back(s);
    next_ += interval_;
    if (samples_.size() < most_) return;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < samples_.size(); i += 2) samples_[kept++] = samples_[i];
    samples_.resize(kept);
    interval_ *= 2;
    next_ = samples_.back().time + interval_;
  }

  std::size_t const most_;
  ticks interval_ = 1, next_ = 0;
  std::vector<sample> samples_;
};

}  // namespace heist::sim
