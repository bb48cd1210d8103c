// A fully associative cache that drops the least recently used entry.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <vector>

#include "heist/core/base/config.hpp"

namespace heist::sim {

/// Blocks by number, each with the version of its content.
///
/// Cost  use() O(1). Memory is taken with the first use: 24 bytes for each block of the capacity.
class lru_cache {
 public:
  /// `capacity` in blocks, less than 2^31; 0: nothing is ever kept.
  explicit lru_cache(std::uint32_t capacity = 0) noexcept : capacity_{capacity} {}

  /// Uses a block: true if it is there in this version. Afterwards it is, as the one used most recently.
  bool use(std::uint32_t block, std::uint32_t version);

  /// The content of a block has changed here; nothing if it is not there.
  void write(std::uint32_t block, std::uint32_t version) noexcept {
    if (slots_.empty()) return;
    if (std::uint32_t const at = slots_[slot_of(block)]; at != none) lines_[at].version = version;
  }

  /// How many blocks are there.
  std::size_t size() const noexcept { return lines_.size(); }
  std::uint32_t capacity() const noexcept { return capacity_; }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  struct line {
    std::uint32_t block, version;
    std::uint32_t newer, older;  ///< a list in the order of use
  };

  void allocate();

  /// Fibonacci hashing, linear probing: the table is at most half full.
  std::uint32_t scheduler(std::uint32_t block) const noexcept {
    return shift_ == 32 ? 0 : block * 0x9E3779B9u >> shift_;
  }
  std::uint32_t mask() const noexcept { return static_cast<std::uint32_t>(slots_.size() - 1); }
  /// Where the block is, or would be.
  std::uint32_t slot_of(std::uint32_t block) const noexcept;

  void insert(std::uint32_t slot, std::uint32_t block, std::uint32_t version);

  /// Empties a slot; moves those behind it that would not be found any more.
  void remove(std::uint32_t hole) noexcept;

  void move_to_front(std::uint32_t at) noexcept;
  void unlink(std::uint32_t at) noexcept;
  void link_front(std::uint32_t at) noexcept;

  std::uint32_t capacity_;
  std::vector<std::uint32_t> slots_;  ///< places in lines_; a power of two of them
  std::vector<line> lines_;
  std::uint32_t front_ = none, back_ = none;
  unsigned shift_ = 0;
};

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/lru_cache.ipp"
#endif
