// The container in which oneTBB's own tests of flow graphs keep their values; the layer offers no containers.
#pragma once

#include <mutex>
#include <unordered_set>
#include <utility>  // forward

namespace tbb {

/// emplace() from several threads; the rest after them.
template <class T>
class concurrent_unordered_multiset : public std::unordered_multiset<T> {
 public:
  template <class... Args>
  void emplace(Args&&... args) {
    std::lock_guard const guard{lock_};
    std::unordered_multiset<T>::emplace(std::forward<Args>(args)...);
  }

 private:
  std::mutex lock_;
};

}  // namespace tbb
