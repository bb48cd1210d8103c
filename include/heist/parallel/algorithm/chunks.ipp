// Bodies of chunks.hpp.
#pragma once

#include "heist/parallel/algorithm/chunks.hpp"

namespace heist::detail {

HEIST_BODY chunks::chunks(std::size_t n, std::size_t workers) : n_{n}, length_{n / (8 * workers) + 1} {
  if (length_ < least) length_ = least;
  count_ = (n + length_ - 1) / length_;
  left_ = make_unique<std::size_t[]>(count_);
}

HEIST_BODY wrong_place::wrong_place(chunks& of, std::size_t cut, bool left_of_cut)
    : begin_{make_unique<std::size_t[]>(of.count())}, before_{make_unique<std::size_t[]>(of.count() + 1)} {
  for (std::size_t k = 0; k != of.count(); ++k) {
    std::size_t lo = of.begin(k) + (left_of_cut ? of.left(k) : 0);
    std::size_t hi = left_of_cut ? of.end(k) : of.begin(k) + of.left(k);
    if (left_of_cut && hi > cut) hi = cut;
    if (!left_of_cut && lo < cut) lo = cut;
    if (lo >= hi) continue;
    begin_[parts_] = lo;
    before_[parts_ + 1] = before_[parts_] + (hi - lo);
    ++parts_;
  }
}

HEIST_BODY wrong_place::position::position(wrong_place const& in, std::size_t i) noexcept : in_{in}, part_{0} {
  std::size_t end = in.parts_;
  while (end - part_ > 1) {
    std::size_t const middle = part_ + (end - part_) / 2;
    (in.before_[middle] <= i ? part_ : end) = middle;
  }
  offset_ = i - in.before_[part_];
}

}  // namespace heist::detail
