// Bodies of future.hpp.
#pragma once

#include "heist/core/executor/future.hpp"

namespace heist::detail {

HEIST_COLD_BODY void reject_empty_future() {
  throw executor_error{
      "this future refers to no task: it was default made, moved from, or its result was taken by get(); fix it by "
      "keeping the result of get(), or by share(), where several ask."};
}

}  // namespace heist::detail
