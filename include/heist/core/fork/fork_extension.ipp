// Bodies of fork_extension.hpp.
#pragma once

#include "heist/core/fork/fork_extension.hpp"

#include "heist/core/base/errors.hpp"
#include "heist/core/base/format.hpp"

namespace heist::detail {

HEIST_COLD_BODY void check_assigned(fiber const& self, std::size_t worker) {
  if (worker < self.scheduler.worker_count) return;
  throw region_error{
      format_text("ctx.designate: there is no worker {}, as the executor has {}; fix it by a number below "
                  "executor::worker_count()",
                  {worker, self.scheduler.worker_count})};
}

}  // namespace heist::detail
