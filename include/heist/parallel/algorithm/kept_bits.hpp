// Which elements of a range are kept.
#pragma once

#include <bit>      // popcount, countr_zero
#include <cstddef>  // size_t
#include <cstdint>
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/core/base/unique_ptr.hpp"

namespace heist::detail {

/// Which elements of a range are kept: a bit for each, and a count for each chunk.
class kept_bits {
 public:
  static constexpr std::size_t bits = 64;

  kept_bits(std::size_t n, std::size_t workers);
  std::size_t chunk_count() const noexcept { return count_; }
  std::size_t begin(std::size_t chunk) const noexcept { return chunk * words_of_chunk_ * bits; }
  std::size_t end(std::size_t chunk) const noexcept { return chunk + 1 < count_ ? begin(chunk + 1) : n_; }

  /// Asks keep(i) for each i of a chunk, in order.
  template <class Keep>
  void fill(std::size_t chunk, Keep const& keep) {
    std::size_t all = 0;
    for (std::size_t i = begin(chunk), last = end(chunk); i != last;) {
      std::size_t const n = last - i < bits ? last - i : bits;
      std::uint64_t word = 0;
      for (std::size_t k = 0; k != n; ++k) word |= std::uint64_t{keep(i + k)} << k;
      words_[i / bits] = word;
      all += static_cast<std::size_t>(std::popcount(word));
      i += n;
    }
    kept_[chunk + 1] = all;
  }
  /// When all are filled: makes position() known. Returns how many there are.
  std::size_t sum_up() noexcept;
  /// Where a chunk's kept elements go.
  std::size_t position(std::size_t chunk) const noexcept { return kept_[chunk]; }
  std::size_t kept_in(std::size_t chunk) const noexcept { return kept_[chunk + 1] - kept_[chunk]; }

  /// Of a chunk's kept elements, once they are at its front: from `end` on they are on places of later chunks'
  /// elements, from `begin_again` on they are not.
  struct overlap_range {
    std::size_t end, begin_again;
  };
  overlap_range overlap_of(std::size_t chunk) const noexcept;
  /// How many elements of the chunks before each are on such places, and of all.
  std::vector<std::size_t> displaced() const;

  /// Calls f(i) for each i of a chunk that is kept, in order.
  template <class F>
  void for_each_kept(std::size_t chunk, F&& f) const {
    for (std::size_t i = begin(chunk), last = end(chunk); i < last; i += bits) {
      for (std::uint64_t word = words_[i / bits]; word != 0; word &= word - 1)
        f(i + static_cast<std::size_t>(std::countr_zero(word)));
    }
  }

 private:
  std::size_t n_, words_of_chunk_, count_;
  unique_ptr<std::uint64_t[]> words_;
  unique_ptr<std::size_t[]> kept_;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/parallel/algorithm/kept_bits.ipp"
#endif
