// A run of a taskflow, and its future.
#pragma once

#include <functional>
#include <future>
#include <memory>   // unique_ptr, weak_ptr
#include <utility>  // move

#include "heist/compat/taskflow/taskflow/core/node.hpp"

namespace tf {

class Taskflow;

/// As many passes over the taskflow's graph as its predicate wants.
class Topology : public detail::parent {
 public:
  Topology(Taskflow& flow, std::function<bool()> done, std::function<void()> at_end)
      : parent{detail::role::run, anchor}, of{&flow}, is_done{std::move(done)}, finish{std::move(at_end)} {}
  bool cancelled() const noexcept { return stopped(); }

  Taskflow* const of;
  std::unique_ptr<Taskflow> owned;  ///< the same, where the run owns it
  std::function<bool()> is_done;
  std::function<void()> finish;
  std::promise<void> promise;
};

inline bool detail::node::parent_stopped() const noexcept {
  return (run != nullptr && run->stopped()) || (above != nullptr && above->stopped());
}

/// A std::future that can cancel its run: tasks that have not begun are skipped.
template <class T>
class Future : public std::future<T> {
 public:
  Future() = default;
  explicit Future(std::future<T>&& f, std::weak_ptr<Topology> run = {})
      : std::future<T>{std::move(f)}, run_{std::move(run)} {}

  /// False if the run has ended.
  bool cancel() {
    auto const run = run_.lock();
    if (run) run->flags.fetch_or(Topology::parent::cancelled, std::memory_order_relaxed);  // relaxed: advice
    return run != nullptr;
  }

 private:
  std::weak_ptr<Topology> run_;
};

}  // namespace tf
