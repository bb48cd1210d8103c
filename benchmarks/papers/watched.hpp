// Counts how often the victims that a thief tries are new to its TLB.
#pragma once

#include <heist/policy.hpp>

#include <algorithm>  // find, rotate
#include <array>
#include <cstddef>  // size_t
#include <cstdint>

namespace papers {

/// Counts of all thieves together. They need no atomics, because the simulator has one thread.
struct polls {
  std::uint64_t all = 0, new_to_tlb = 0;

  double share() const { return all == 0 ? 0 : static_cast<double>(new_to_tlb) / static_cast<double>(all); }
};

/// Behaves as `Base`. A thief's TLB holds a page for each of the last 16 victims that the thief tried or looked at. The
/// data TLB of the TILEPro64 has 16 entries (Wool, section 2.2).
template <class Base>
class watched : public Base {
 public:
  static inline polls total;

  std::uint32_t next(heist::victim::thief_view const& me, heist::fast_random& random) noexcept {
    std::uint32_t const victim = Base::next(me, random);
    if (victim != me.self) touch(victim);
    return victim;
  }

 private:
  static constexpr std::size_t entries = 16;

  void touch(std::uint32_t victim) noexcept {
    ++total.all;
    auto const end = tlb_.begin() + static_cast<std::ptrdiff_t>(used_);
    auto found = std::find(tlb_.begin(), end, victim);
    if (found == end) {
      ++total.new_to_tlb;
      if (used_ < entries) {
        ++used_;
      } else {
        --found;  // the least recently used
      }
      *found = victim;
    }
    std::rotate(tlb_.begin(), found, found + 1);
  }

  std::array<std::uint32_t, entries> tlb_{};  // most recently used first
  std::size_t used_ = 0;
};

}  // namespace papers
