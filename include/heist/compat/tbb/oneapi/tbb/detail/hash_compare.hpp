// How keys are hashed and compared where a program does not say it. Where oneTBB is found it is the class of its own
// containers, since programs specialise it for them.
#pragma once

#if __has_include(<oneapi/tbb/detail/_hash_compare.h>)

#include "heist/compat/tbb/oneapi/tbb/detail/onetbb_begin.hpp"

#include <oneapi/tbb/detail/_hash_compare.h>

#include "heist/compat/tbb/oneapi/tbb/detail/onetbb_end.hpp"

namespace tbb {
using detail::d1::tbb_hash_compare;
}

#else

#include <cstddef>     // size_t
#include <functional>  // hash

namespace tbb {

template <class Key>
struct tbb_hash_compare {
  std::size_t hash(Key const& k) const { return std::hash<Key>{}(k); }
  bool equal(Key const& a, Key const& b) const { return a == b; }
};

}  // namespace tbb

#endif
