// The parts that both kinds of context share (boost_fiber_context.hpp, native_fiber_context.hpp).
#pragma once

#include <cstddef>  // size_t
#include <utility>  // move

#include "heist/core/base/config.hpp"
#include "heist/core/fiber/control_words.hpp"
#include "heist/core/fiber/exception_state.hpp"
#include "heist/core/fiber/sanitizer.hpp"
#include "heist/core/memory/stack.hpp"

namespace heist::detail {

/// Something to do on the new side right after a switch, when the old side has been left completely. The old side may
/// be published, resumed elsewhere or freed only then. Its argument may live on the old stack, and must not be touched
/// once the old one is published.
struct after_switch {
  void (*act)(void*) noexcept;
  void* argument;
};

/// The function that call() runs on another stack; returns a positive number. It must not throw.
using flow_function = int (*)(void* a, void* b) noexcept;

/// The result of call() when a worker has continued the caller before the function returned.
inline constexpr int call_continuation_stolen = 0;

/// Tops of stacks are moved against each other by multiples of two cache lines, so that the hot ends of many stacks do
/// not fall into the same cache sets.
inline constexpr unsigned stack_colors = 16;

inline char* coloured_top(stack const& memory, unsigned color) noexcept {
  return memory.top() - (color % stack_colors) * std::size_t{2} * cache_line_size;
}

}  // namespace heist::detail
