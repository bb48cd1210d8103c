// Bodies of series.hpp.
#pragma once

#include "heist/tools/simulate/series.hpp"

namespace heist::sim {

HEIST_BODY void series::add(sample s) {
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

}  // namespace heist::sim
