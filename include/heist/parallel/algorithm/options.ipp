// Bodies of options.hpp.
#pragma once

#include "heist/parallel/algorithm/options.hpp"

#include "heist/core/base/errors.hpp"

namespace heist::detail {

HEIST_BODY void check_options(loop_options const& wanted) {
  if (wanted.grain == 0) {
    throw algorithm_error{
        "heist: a grain of 0 iterations, of which no loop would ever end; fix it by leaving the grain out, or by 1 or "
        "more."};
  }
  if (wanted.stop.stop_requested()) throw_stopped();
}

HEIST_COLD_BODY void throw_stopped() {
  throw stopped_error{
      "heist: an algorithm was asked to stop before its end, so it has no result; fix it by catching "
      "heist::stopped_error, or by not asking."};
}

}  // namespace heist::detail
