// The one thing a worker can run.
#pragma once

#include "heist/core/observe/observer.hpp"
#include "heist/core/sync/completion.hpp"

namespace heist::detail {

class fiber;
struct interrupt_state;
struct runnable;

/// Operations that differ by the type of a runnable and are not on the path of every task.
struct described_operations {
  /// Sets `view` to what observers are told of `self`, which the worker's loop then tells before it runs and after it
  /// has returned. False: it tells its begin and end by itself (core::tell_begin), because it may not run at once when
  /// it is begun, or because its end lets a waiter resume that relies on the report.
  bool (*to_text)(runnable const& self, task_view& view) noexcept;
  unsigned (*wave)(runnable const& self) noexcept = nullptr;  ///< the unit of work's (work_count); null: not known
  /// The completion that cannot end before its code has returned; null: not known.
  completion const* (*end)(runnable const& self) noexcept = nullptr;
  /// The interrupt_state of its code, where fiber::interrupt does not name it; null: not known.
  interrupt_state const* (*interrupt)(runnable const& self) noexcept = nullptr;
};

/// Something with a description; read only by observers.
struct described {
  described_operations const* operations;
};

/// Something ready to run: a graph node, an async task, a fiber to continue with.
struct runnable {
  /// Runs `task` on fiber `self`, which may be on another worker afterwards (the code may wait), and returns what to
  /// run next on that fiber, or null: the paper's one-task cache. `task` may be gone when it returns.
  using run_function = runnable* (*)(runnable& task, fiber& self);

  run_function run;
  described const* what;  ///< null: a part of a task that observers know already
};

/// A runnable that can be in the injection queue.
struct queued_runnable : runnable {
  queued_runnable* next = nullptr;
};

/// One that can also be in a squad's pool.
struct pooled_runnable : queued_runnable {
  pooled_runnable* older = nullptr;
  pooled_runnable* newer = nullptr;
};

}  // namespace heist::detail
