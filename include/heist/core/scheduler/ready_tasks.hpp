// Tasks of a worker that are ready and have an order among themselves.
#pragma once

#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/core/scheduler/runnable.hpp"
#include "heist/core/sync/ready_list.hpp"

namespace heist::detail {

class fiber;

/// Runs the most urgent task of a list, for which it stands.
runnable* run_most_urgent(runnable& stands_for, fiber& self);

/// Each task in the list has been promised to a stand-in: this object, in some deque, or the call that made the task
/// ready (ready_offer). A deque may hold it many times. Its taker, the owner or a thief, has a task of this list.
struct ready_tasks : runnable {
  ready_tasks() noexcept : runnable{&run_most_urgent, nullptr} {}

  ready_list<runnable> list;
  std::uint32_t turn = 0;  ///< the worker at whose list its owner looks next; owner only
};

/// Makes tasks ready that have an order, and begins the most urgent: of them, and of the worker's earlier ones.
///
/// Threads  one, within a call that does not wait.
class ready_offer {
 public:
  explicit ready_offer(fiber& self) noexcept;

  /// From here on any worker may run it.
  void add(std::uint64_t urgency, runnable& task);
  /// Called after the last one: the runnable that the caller runs next; null if nothing was added.
  runnable* begin();
  /// After the last one: the caller runs something else, or nothing.
  void leave();

 private:
  fiber& self_;
  ready_tasks& at_;
  std::uint32_t added_ = 0;
};

}  // namespace heist::detail
