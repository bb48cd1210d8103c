// The exception of the layer.
#pragma once

#include <stdexcept>

namespace tf::detail {

/// Programs written for Taskflow catch std::runtime_error.
[[noreturn]] inline void reject(char const* what) {
  throw std::runtime_error{what};
}

}  // namespace tf::detail
