// Bodies of per_worker.hpp.
#pragma once

#include "heist/parallel/async/per_worker.hpp"

#include "heist/core/base/errors.hpp"
#include "heist/core/fiber/current.hpp"

namespace heist::detail {

HEIST_COLD_BODY std::size_t all_workers_of(core const& scheduler) noexcept {
  remote_extension const* const others = scheduler.remote_executors();
  return scheduler.worker_count + (others == nullptr ? 0 : others->workers_remote());
}

HEIST_BODY std::size_t worker_number_in(core const& scheduler) {
  worker* const w = this_worker();  // kept: asked, at once
  remote_extension const* const others = scheduler.remote_executors();
  if (w != nullptr && &w->scheduler != &scheduler && others != nullptr && others->has_remote(*w))
    return scheduler.worker_count + others->number_remote(*w);
  if (w == nullptr || &w->scheduler != &scheduler) {
    throw executor_error{
        "per_worker::local() on a thread that is no worker of its executor; fix it by calling it in a task of that "
        "executor, or by operator[] with a worker's number."};
  }
  return w->number;
}

}  // namespace heist::detail
