// Bodies of chunks.hpp.
#pragma once

#include "heist/parallel/algorithm/chunks.hpp"

namespace heist::detail {

HEIST_BODY chunks::chunks(std::size_t n, std::size_t workers) : n_{n}, length_{n / (8 * workers) + 1} {
  if (length_ < least) length_ = least;
  count_ = (n + length_ - 1) / length_;
  left_ = std::make_unique<std::size_t[]>(count_);
}

HEIST_BODY misplaced::misplaced(chunks& of, std::size_t cut, bool left_of_cut)
    : begin_{std::make_unique<std::size_t[]>(of.count())}, before_{std::make_unique<std::size_t[]>(of.count() + 1)} {
  for (std::size_t k = 0; k != of.count(); ++k) {
    std::size_t lo = of.begin(k) + (left_of_cut ? of.left(k) : 0);
    std::size_t hi = left_of_cut ? of.end(k) : of.begin(k) + of.left(k);
    if (left_of_cut && hi > cut) hi = cut;
    if (!left_of_cut && lo < cut) lo = cut;
    if (lo >= hi) continue;
    begin_[pieces_] = lo;
    before_[pieces_ + 1] = before_[pieces_] + (hi - lo);
    ++pieces_;
  }
}

HEIST_BODY misplaced::position::position(misplaced const& in, std::size_t i) noexcept : in_{in}, piece_{0} {
  std::size_t end = in.pieces_;
  while (end - piece_ > 1) {
    std::size_t const middle = piece_ + (end - piece_) / 2;
    (in.before_[middle] <= i ? piece_ : end) = middle;
  }
  offset_ = i - in.before_[piece_];
}

}  // namespace heist::detail
