// HEIST_DISPLAY_ENV: the part that executors see; configuration.hpp does the work.
#pragma once

#include <cstddef>  // size_t

#include "heist/core/base/config.hpp"

namespace heist::detail {

/// Prints the settings of this process, if HEIST_DISPLAY_ENV asks for it.
struct display {
  HEIST_RARE static void print_if_wanted();
  /// Null while no file of the program includes heist/configuration.hpp.
  using printer = void (*)();
  HEIST_ONE_COPY static inline constinit printer print = nullptr;
};

// The values of HEIST_STACK_SIZE and HEIST_MAX_FIBERS, or the defaults.
std::size_t stack_size_left_open() noexcept;
std::size_t max_fibers_left_open() noexcept;

}  // namespace heist::detail
