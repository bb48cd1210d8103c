// combinable: an element for each that works, and their sum.
#pragma once

#include <type_traits>
#include <utility>  // move

#include "heist/compat/tbb/oneapi/tbb/enumerable_thread_specific.h"

namespace tbb {

template <class T>
class combinable {
 public:
  combinable() = default;
  template <class Init>
  requires(!std::is_same_v<std::decay_t<Init>, combinable>) explicit combinable(Init init) : all_(std::move(init)) {}

  void clear() { all_.clear(); }
  T& local() { return all_.local(); }
  T& local(bool& exists) { return all_.local(exists); }
  template <class F>
  T combine(F f) {
    return all_.combine(f);
  }
  template <class F>
  void combine_each(F f) {
    all_.combine_each(f);
  }

 private:
  enumerable_thread_specific<T> all_;
};

}  // namespace tbb
