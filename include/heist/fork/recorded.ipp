// Bodies of recorded.hpp.
#pragma once

#include "heist/fork/recorded.hpp"

#include <fmt/format.h>

#include "heist/base/errors.hpp"

namespace heist::detail {

HEIST_COLD_BODY void refuse_designated(std::size_t worker, std::size_t workers) {
  throw region_error{
      fmt::format("ctx.designate: there is no worker {}, as the executor has {}; mend it by a number below "
                  "executor::worker_count()",
                  worker, workers)};
}

}  // namespace heist::detail
