// Errors between processes.
#pragma once

#include <string>
#include <utility>  // move

#include "heist/core/base/errors.hpp"

namespace heist {

/// A run of a distributed graph has failed: on which rank, and why. Thrown on all ranks; where the exception came from
/// it is nested in this one (std::rethrow_if_nested).
struct distributed_error : error {
  distributed_error(int on, std::string text)
      : error{"rank " + std::to_string(on) + ": " + text}, rank{on}, what_there{std::move(text)} {}
  int rank;
  std::string what_there;
};

}  // namespace heist
