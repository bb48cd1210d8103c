// Where a simulated worker or squad keeps items that other workers may take: the back is its own end, thieves take the
// front.
#pragma once

#include <cstddef>  // size_t
#include <vector>

namespace heist::sim {

/// A deque. Cost: O(1), amortised.
template <class T>
class pool {
 public:
  bool empty() const noexcept { return first_ == items_.size(); }
  std::size_t size() const noexcept { return items_.size() - first_; }
  void push(T item) { items_.push_back(item); }
  // Not empty only.
  T const& back() const noexcept { return items_.back(); }
  T const& front() const noexcept { return items_[first_]; }
  T pop_back() noexcept {
    T const item = items_.back();
    items_.pop_back();
    tidy();
    return item;
  }
  T pop_front() noexcept {
    T const item = items_[first_++];
    tidy();
    return item;
  }

 private:
  void tidy() noexcept {
    if (first_ == items_.size()) {
      items_.clear();
      first_ = 0;
    } else if (first_ >= 64 && first_ * 2 > items_.size()) {
      items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
  }
  std::vector<T> items_;
  std::size_t first_ = 0;
};

}  // namespace heist::sim
