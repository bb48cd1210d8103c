// Who measures a task without its waits.
#pragma once

namespace heist::detail {

/// Measures the work of a frame itself, without its waits and without other tasks that run on its stack meanwhile.
///
/// Threads  by the worker that the frame's fiber is on.
class frame_tracker {
 public:
  /// False if it had been stopped before; otherwise restart() follows, perhaps on another worker.
  virtual bool stop() noexcept = 0;
  virtual void restart() noexcept = 0;
  /// The task of a graph, if it measures one.
  virtual void const* measures_task() const noexcept { return nullptr; }

 protected:
  ~frame_tracker() = default;
};

}  // namespace heist::detail
