// Bodies of per_worker.hpp.
#pragma once

#include "heist/parallel/async/per_worker.hpp"

#include "heist/core/base/errors.hpp"
#include "heist/core/fiber/current.hpp"

namespace heist::detail {

HEIST_COLD_BODY std::size_t all_workers_of(core const& home) noexcept {
  return home.worker_count + (home.room == nullptr ? 0 : home.room->workers_elsewhere());
}

HEIST_BODY std::size_t worker_number_in(core const& home) {
  worker* const w = this_worker();  // kept: asked, at once
  if (w != nullptr && &w->home != &home && home.room != nullptr && home.room->has_elsewhere(*w))
    return home.worker_count + home.room->number_elsewhere(*w);
  if (w == nullptr || &w->home != &home) {
    throw executor_error{
        "per_worker::local() on a thread that is no worker of its executor; fix it by calling it in a task of that "
        "executor, or by operator[] with a worker's number."};
  }
  return w->number;
}

}  // namespace heist::detail
