// Observers: told when a task begins and ends.
#pragma once

#include <chrono>
#include <cstddef>

#include "heist/compat/taskflow/taskflow/core/task.hpp"
#include "heist/compat/taskflow/taskflow/core/worker.hpp"

namespace tf {

using observer_stamp_t = std::chrono::time_point<std::chrono::steady_clock>;

/// Its functions are called by many workers at a time.
class ObserverInterface {
 public:
  virtual ~ObserverInterface() = default;
  virtual void set_up(std::size_t num_workers) = 0;
  virtual void on_entry(WorkerView worker, TaskView task) = 0;
  virtual void on_exit(WorkerView worker, TaskView task) = 0;
};

}  // namespace tf
