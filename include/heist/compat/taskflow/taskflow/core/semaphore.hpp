// Semaphores: how many of some tasks may run at the same time.
#pragma once

#include <cstddef>
#include <deque>
#include <mutex>

#include "heist/compat/taskflow/taskflow/core/error.hpp"
#include "heist/compat/taskflow/taskflow/core/node.hpp"

namespace tf {

/// Tasks that find no permit wait in line without a worker. Threads: any.
class Semaphore {
 public:
  Semaphore() = default;
  explicit Semaphore(std::size_t most) : most_{most}, now_{most} {}

  std::size_t value() const {
    std::lock_guard const guard{lock_};
    return now_;
  }
  std::size_t max_value() const { return most_; }
  void reset() { reset(most_); }
  void reset(std::size_t most) {
    std::lock_guard const guard{lock_};
    most_ = now_ = most;
    line_.clear();
  }

  // For the code of the layer.
  bool acquire_or_wait(detail::node& n) {
    std::lock_guard const guard{lock_};
    if (now_ != 0) return --now_, true;
    line_.push_back(&n);
    return false;
  }
  /// Returns the task that may try now, or null.
  detail::node* release() {
    std::lock_guard const guard{lock_};
    if (now_ >= most_)
      detail::reject(
          "heist: a task releases a tf::Semaphore that has all its permits; fix it by as many acquire() as release().");
    ++now_;
    if (line_.empty()) return nullptr;
    detail::node* const first = line_.front();
    line_.pop_front();
    return first;
  }

 private:
  mutable std::mutex lock_;
  std::size_t most_ = 0, now_ = 0;
  std::deque<detail::node*> line_;
};

}  // namespace tf
