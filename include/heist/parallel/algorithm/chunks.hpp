// Chunks of a range that is partitioned in place, and what then stands on the wrong side of the cut.
#pragma once

#include <cstddef>  // size_t

#include "heist/core/base/config.hpp"
#include "heist/core/base/unique_ptr.hpp"

namespace heist::detail {

/// A division of n elements into chunks, and how many of each chunk belong left.
class chunks {
 public:
  static constexpr std::size_t least = 4096;

  /// About eight chunks for each worker.
  chunks(std::size_t n, std::size_t workers);
  std::size_t count() const noexcept { return count_; }
  std::size_t begin(std::size_t k) const noexcept { return k * length_; }
  std::size_t end(std::size_t k) const noexcept { return k + 1 < count_ ? (k + 1) * length_ : n_; }
  std::size_t& left(std::size_t k) noexcept { return left_[k]; }
  std::size_t size() const noexcept { return n_; }

 private:
  std::size_t n_, length_, count_;
  unique_ptr<std::size_t[]> left_;
};

/// The elements on the wrong side of a cut after each chunk has been partitioned: pieces of chunks, counted through.
class wrong_place {
 public:
  wrong_place(chunks& of, std::size_t cut, bool left_of_cut);
  std::size_t size() const noexcept { return before_[parts_]; }

  /// Walks through them.
  class position {
   public:
    position(wrong_place const& in, std::size_t i) noexcept;
    std::size_t operator*() const { return in_.begin_[part_] + offset_; }
    void operator++() {
      ++offset_;
      if (in_.before_[part_] + offset_ == in_.before_[part_ + 1]) {
        ++part_;
        offset_ = 0;
      }
    }

   private:
    wrong_place const& in_;
    std::size_t part_, offset_;
  };

 private:
  unique_ptr<std::size_t[]> begin_, before_;
  std::size_t parts_ = 0;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/parallel/algorithm/chunks.ipp"
#endif
