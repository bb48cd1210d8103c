// A fully associative cache that drops what was used least recently.
#pragma once

#include <bit>      // bit_ceil
#include <cstddef>  // size_t
#include <cstdint>
#include <vector>

namespace heist::sim {

/// Blocks by number, each with the version of its content.
///
/// Cost  use() O(1). Memory is taken with the first use: 24 bytes for each block of the capacity.
class lru_cache {
 public:
  /// `capacity` in blocks, less than 2^31; 0: nothing is ever kept.
  explicit lru_cache(std::uint32_t capacity = 0) noexcept : capacity_{capacity} {}

  /// Uses a block: true if it is there in this version. Afterwards it is, as the one used most recently.
  bool use(std::uint32_t block, std::uint32_t version) {
    if (capacity_ == 0) return false;
    if (slots_.empty()) allocate();
    std::uint32_t const slot = slot_of(block);
    if (std::uint32_t const at = slots_[slot]; at != nobody) {
      bool const fresh = lines_[at].version == version;
      lines_[at].version = version;
      move_to_front(at);
      return fresh;
    }
    insert(slot, block, version);
    return false;
  }

  /// The content of a block has changed here; nothing if it is not there.
  void write(std::uint32_t block, std::uint32_t version) noexcept {
    if (slots_.empty()) return;
    if (std::uint32_t const at = slots_[slot_of(block)]; at != nobody) lines_[at].version = version;
  }

  /// How many blocks are there.
  std::size_t size() const noexcept { return lines_.size(); }
  std::uint32_t capacity() const noexcept { return capacity_; }

 private:
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};

  struct line {
    std::uint32_t block, version;
    std::uint32_t newer, older;  ///< a list in the order of use
  };

  void allocate() {
    std::uint32_t const wanted = std::bit_ceil(2 * capacity_);
    slots_.assign(wanted, nobody);
    lines_.reserve(capacity_);
    shift_ = 32 - static_cast<unsigned>(std::bit_width(wanted) - 1);
  }

  /// Fibonacci hashing, linear probing: the table is at most half full.
  std::uint32_t home(std::uint32_t block) const noexcept { return shift_ == 32 ? 0 : block * 0x9E3779B9u >> shift_; }
  std::uint32_t mask() const noexcept { return static_cast<std::uint32_t>(slots_.size() - 1); }
  /// Where the block is, or would be.
  std::uint32_t slot_of(std::uint32_t block) const noexcept {
    std::uint32_t slot = home(block);
    while (slots_[slot] != nobody && lines_[slots_[slot]].block != block) slot = (slot + 1) & mask();
    return slot;
  }

  void insert(std::uint32_t slot, std::uint32_t block, std::uint32_t version) {
    std::uint32_t at;
    if (lines_.size() < capacity_) {
      at = static_cast<std::uint32_t>(lines_.size());
      lines_.push_back({block, version, nobody, nobody});
    } else {
      at = oldest_;
      unlink(at);
      remove(slot_of(lines_[at].block));
      slot = slot_of(block);
      lines_[at] = {block, version, nobody, nobody};
    }
    slots_[slot] = at;
    link_newest(at);
  }

  /// Empties a slot; moves those behind it that would not be found any more.
  void remove(std::uint32_t hole) noexcept {
    for (std::uint32_t slot = (hole + 1) & mask(); slots_[slot] != nobody; slot = (slot + 1) & mask()) {
      std::uint32_t const wanted = home(lines_[slots_[slot]].block);
      if (((slot - wanted) & mask()) < ((slot - hole) & mask())) continue;
      slots_[hole] = slots_[slot];
      hole = slot;
    }
    slots_[hole] = nobody;
  }

  void move_to_front(std::uint32_t at) noexcept {
    if (at == newest_) return;
    unlink(at);
    link_newest(at);
  }
  void unlink(std::uint32_t at) noexcept {
    line const& l = lines_[at];
    (l.newer == nobody ? newest_ : lines_[l.newer].older) = l.older;
    (l.older == nobody ? oldest_ : lines_[l.older].newer) = l.newer;
  }
  void link_newest(std::uint32_t at) noexcept {
    lines_[at].newer = nobody;
    lines_[at].older = newest_;
    (newest_ == nobody ? oldest_ : lines_[newest_].newer) = at;
    newest_ = at;
  }

  std::uint32_t capacity_;
  std::vector<std::uint32_t> slots_;  ///< places in lines_; a power of two of them
  std::vector<line> lines_;
  std::uint32_t newest_ = nobody, oldest_ = nobody;
  unsigned shift_ = 0;
};

}  // namespace heist::sim
