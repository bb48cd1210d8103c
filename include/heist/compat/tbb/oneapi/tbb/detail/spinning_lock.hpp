// A lock for short sections.
#pragma once

#include <atomic>
#include <thread>  // yield

namespace tbb::detail {

/// One word that is tried again and again, and then yields: for some instructions that never wait.
class spinning_lock {
 public:
  void lock() noexcept {
    for (int n = 0; !try_lock(); ++n) {
      if (n >= 16) std::this_thread::yield();
    }
  }
  bool try_lock() noexcept {
    return !taken_.load(std::memory_order_relaxed) &&          // relaxed: a look before the exchange
           !taken_.exchange(true, std::memory_order_acquire);  // acquire: unlock()
  }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }  // release: lock()

 private:
  std::atomic<bool> taken_{false};
};

}  // namespace tbb::detail
