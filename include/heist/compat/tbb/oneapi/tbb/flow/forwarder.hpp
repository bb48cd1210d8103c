// The one task at a time in which a node forwards what it holds.
#pragma once

#include <atomic>
#include <utility>  // move

#include "heist/compat/tbb/oneapi/tbb/flow/graph.hpp"

namespace tbb::flow::detail {

/// No signal is lost: one that comes while the task runs makes it try again.
class forwarder {
 public:
  explicit forwarder(graph& g, node_priority_t priority = no_priority) : tasks_{tasks_of(g)}, priority_{priority} {}

  /// Something has changed. `step()` tries to forward one message; true: a next one may follow.
  template <class Step>
  void signal(Step step) {
    if (!tasks_.is_active() || !begin()) return;
    tasks_.spawn(
        [this, step = std::move(step)](bool may_run) mutable {
          try {
            for (;;) {
              while (may_run && step()) may_run = !tasks_.is_cancelled();
              if (!may_run) return drop();
              if (end()) return;
            }
          } catch (...) {
            drop();
            throw;
          }
        },
        priority_);
  }

 private:
  enum : unsigned char { idle, running, again };

  /// True: the caller starts the task.
  bool begin() noexcept {
    unsigned char now = idle;
    for (;;) {
      if (now == again) return false;
      unsigned char const next = now == idle ? running : again;
      if (state_.compare_exchange_weak(now, next, std::memory_order_acq_rel,
                                       std::memory_order_acquire))  // acq_rel: end()
        return now == idle;
    }
  }
  /// False: a signal came.
  bool end() noexcept {
    unsigned char now = running;
    if (state_.compare_exchange_strong(now, idle, std::memory_order_acq_rel,
                                       std::memory_order_acquire))  // acq_rel: begin()
      return true;
    state_.store(running, std::memory_order_release);  // release: begin(); only this task leaves `again`
    return false;
  }
  void drop() noexcept { state_.store(idle, std::memory_order_release); }  // release: begin()

  graph_tasks& tasks_;
  node_priority_t const priority_;
  std::atomic<unsigned char> state_{idle};
};

}  // namespace tbb::flow::detail
