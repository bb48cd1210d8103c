// Threads that carry workers: each worker is carried by one thread at a time, which may change (core/executor/README.md,
// "OS threads").
#pragma once

#include <atomic>
#include <cstdint>

#include "heist/core/base/env.hpp"
#include "heist/core/base/unique_ptr.hpp"

namespace heist::detail {

// Edge
//   E1  call: word_.store(release) -> wait: word_.load(acquire)   the worker as its last OS thread has left it

/// The place where a thread that carries no worker gets its next one.
template <class Worker, class Env = os_env>
class basic_hand_over {
 public:
  /// Gives it the worker to carry next; null: none any more. By one thread, to one that waits or is about to.
  void call(Worker* w) noexcept {
    given_ = w;
    word_.store(called, std::memory_order_release);  // E1
    word_.wake_one();                                // the address only
  }
  /// Sleeps until called.
  Worker* wait() noexcept {
    while (word_.load(std::memory_order_acquire) == nothing) word_.wait(nothing);  // E1
    word_.store(nothing, std::memory_order_relaxed);  // relaxed: no call comes before it rests, which is under a lock
    return given_;
  }

 private:
  static constexpr std::uint32_t nothing = 0, called = 1;

  typename Env::template plain<Worker*> given_{nullptr};  // published by the word
  typename Env::park_word word_;
};

struct worker;

/// A thread of an executor. Lives as long as that.
struct os_thread : basic_hand_over<worker> {
  os_thread* next = nullptr;  ///< in the list of threads that carry no worker
  unique_ptr<os_thread> next_of_all;
};

}  // namespace heist::detail
