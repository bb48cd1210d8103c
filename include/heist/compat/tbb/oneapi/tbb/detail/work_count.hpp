// How much of something has not ended, and a wait for its end.
#pragma once

#include <cstddef>  // size_t
#include <mutex>

#include "heist/compat/tbb/oneapi/tbb/detail/arena.hpp"
#include "heist/sync.hpp"

namespace tbb::detail {

/// May be destroyed as soon as a wait() has returned. Threads: any.
class work_count {
 public:
  void add(std::size_t n = 1) {
    std::lock_guard const guard{lock_};
    open_ += n;
  }
  void remove() {
    std::lock_guard const guard{lock_};
    if (--open_ == 0) none_.notify_all();
  }
  bool is_zero() const {
    std::lock_guard const guard{lock_};
    return open_ == 0;
  }
  /// A task parks. A thread outside works in `on`.
  void wait(arena& on) {
    if (is_zero()) return;
    on.enter([this] {
      keep_task_state const kept;
      std::unique_lock guard{lock_};
      none_.wait(guard, [this] { return open_ == 0; });
    });
  }

 private:
  mutable std::mutex lock_;
  std::size_t open_ = 0;
  heist::condition_variable_any none_;
};

}  // namespace tbb::detail
