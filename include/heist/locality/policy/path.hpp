// A task's place in the tree of forks, as a name for it that other runs of the same program have too.
#pragma once

#include <cstdint>

namespace heist::tier {

/// A hash of the spawn indices from a root to a task, one index longer than `path`. The root's is 0, or what tells it
/// from other roots.
constexpr std::uint64_t path_of_child(std::uint64_t path, std::uint32_t index) noexcept {
  std::uint64_t x = path + 0x9e3779b97f4a7c15u * (index + std::uint64_t{1});  // the finalizer of splitmix64
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

}  // namespace heist::tier
