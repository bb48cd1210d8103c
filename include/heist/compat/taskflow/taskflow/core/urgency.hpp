// Ready tasks by priority, in programs that are compiled with TF_ENABLE_TASK_PRIORITY.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>

#include "heist/compat/taskflow/taskflow/core/node.hpp"

namespace tf::detail {

inline std::size_t level_of(node const& n) noexcept {
  return n.more ? static_cast<std::size_t>(n.more->priority) : 0;
}

/// Threads: any. Each task that is put in is taken out once.
class urgency_lists {
 public:
  void put(node& n) {
    std::lock_guard const guard{lock_};
    of_[level_of(n)].push_back(&n);
  }
  /// One of the most urgent; there is one.
  node* take() {
    std::lock_guard const guard{lock_};
    auto* list = of_;
    while (list->empty()) ++list;
    node* const first = list->front();
    list->pop_front();
    return first;
  }

 private:
  std::mutex lock_;
  std::deque<node*> of_[static_cast<std::size_t>(TaskPriority::MAX)];
};

}  // namespace tf::detail
