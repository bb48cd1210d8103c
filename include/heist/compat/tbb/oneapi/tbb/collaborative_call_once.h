// collaborative_call_once: others park until it is done.
#pragma once

#include <mutex>
#include <utility>  // forward

#include "heist/compat/tbb/oneapi/tbb/detail/task_state.hpp"
#include "heist/sync.hpp"

namespace tbb {

class collaborative_once_flag {
 public:
  collaborative_once_flag() = default;
  collaborative_once_flag(collaborative_once_flag const&) = delete;
  collaborative_once_flag& operator=(collaborative_once_flag const&) = delete;

 private:
  template <class F, class... Args>
  friend void collaborative_call_once(collaborative_once_flag& flag, F&& f, Args&&... args);
  heist::mutex lock_;
  bool is_done_ = false;
};

/// Calls f(args...) unless a call of it has returned. It may run parallel loops: who comes meanwhile parks.
template <class F, class... Args>
void collaborative_call_once(collaborative_once_flag& flag, F&& f, Args&&... args) {
  detail::keep_task_state const kept;
  std::lock_guard const guard{flag.lock_};
  if (flag.is_done_) return;
  std::forward<F>(f)(std::forward<Args>(args)...);
  flag.is_done_ = true;
}

}  // namespace tbb
