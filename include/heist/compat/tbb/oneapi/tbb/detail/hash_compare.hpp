// How keys are hashed and compared where a program does not say it.
#pragma once

#include <cstddef>     // size_t
#include <functional>  // hash

namespace tbb {

template <class Key>
struct tbb_hash_compare {
  std::size_t hash(Key const& k) const { return std::hash<Key>{}(k); }
  bool equal(Key const& a, Key const& b) const { return a == b; }
};

}  // namespace tbb
