// Bodies of kept_bits.hpp.
#pragma once

#include "heist/parallel/algorithm/kept_bits.hpp"

#include <algorithm>  // min, max

namespace heist::detail {

HEIST_BODY kept_bits::kept_bits(std::size_t n, std::size_t workers) : n_{n} {
  std::size_t const words = (n + bits - 1) / bits;
  words_of_chunk_ = words / (workers * 16) + 1;
  count_ = (words + words_of_chunk_ - 1) / words_of_chunk_;
  words_ = make_unique_for_overwrite<std::uint64_t[]>(words);
  kept_ = make_unique<std::size_t[]>(count_ + 1);
}

HEIST_BODY std::size_t kept_bits::sum_up() noexcept {
  for (std::size_t k = 0; k != count_; ++k) kept_[k + 1] += kept_[k];
  return kept_[count_];
}

HEIST_BODY kept_bits::overlap_range kept_bits::overlap_of(std::size_t chunk) const noexcept {
  std::size_t const last = begin(chunk) + kept_in(chunk);
  std::size_t const end = std::min(std::max(begin(chunk), position(chunk + 1)), last);
  return {end, std::max(end, std::min(last, position(count_)))};
}

HEIST_BODY std::vector<std::size_t> kept_bits::displaced() const {
  std::vector<std::size_t> before(count_ + 1);
  for (std::size_t k = 0; k != count_; ++k) before[k + 1] = before[k] + (overlap_of(k).begin_again - overlap_of(k).end);
  return before;
}

}  // namespace heist::detail
