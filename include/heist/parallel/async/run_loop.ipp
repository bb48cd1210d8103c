// Bodies of run_loop.hpp.
#pragma once

#include "heist/parallel/async/run_loop.hpp"

#include "heist/core/base/env.hpp"
#include "heist/core/base/errors.hpp"
#include "heist/core/scheduler/wait.hpp"

namespace heist::detail {

HEIST_COLD_BODY std::exception_ptr destroyed_loop_error() {
  return std::make_exception_ptr(stopped_error{"the run_loop was destroyed before the task ran"});
}

HEIST_COLD_BODY run_loop_base::~run_loop_base() {
  // A task's captures may post in their destructors.
  queue_.run_while([this](std::size_t) { return queue_.is_empty(); }, [](loop_task& task) { task.act(task, nullptr); },
                   [](completion&) {});
}

/// Throws the first exception of a posted task.
template <class IsOver>
std::size_t run_loop_base::run_while(IsOver is_over) {
  std::exception_ptr first;
  std::size_t ran = 0;
  queue_.run_while(
      is_over,
      [&](loop_task& task) {
        task.act(task, &first);
        ++ran;
      },
      [](completion& woken) { wait_to_the_end(woken, os_env::process(), {"tasks of a run_loop"}); });
  if (first) std::rethrow_exception(first);
  return ran;
}

HEIST_COLD_BODY std::size_t run_loop_base::run_queued() {
  return run_while([this, queued = queue_.size()](std::size_t n) { return n == queued || queue_.is_empty(); });
}

HEIST_COLD_BODY std::size_t run_loop_base::run_until_finished() {
  return run_while([this](std::size_t) { return queue_.is_finished() && queue_.is_empty(); });
}

HEIST_COLD_BODY void run_loop_base::run_until_complete(completion& end) {
  run_queue<loop_task>::end_watch watch{queue_};
  if (end.add_entry(watch)) run_while([&watch](std::size_t) { return watch.is_complete; });
}

}  // namespace heist::detail
