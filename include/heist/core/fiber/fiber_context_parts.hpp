// What both kinds of context share (boost_fiber_context.hpp, native_fiber_context.hpp).
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <utility>  // move

#include "heist/core/base/config.hpp"
#include "heist/core/fiber/exception_state.hpp"
#include "heist/core/fiber/sanitizer.hpp"
#include "heist/core/memory/stack.hpp"

namespace heist::detail {

/// Something to do on the new side right after a switch, when the old side has been left completely: only then may the
/// old one be published, resumed elsewhere or freed. Its argument may live on the old stack, and must not be touched
/// once the old one is published.
struct after_switch {
  void (*act)(void*) noexcept;
  void* argument;
};

/// What call() runs on another stack; returns something positive. It must not throw.
using flow_function = int (*)(void* a, void* b) noexcept;

/// What call() returns when a worker has continued the caller before the function returned.
inline constexpr int call_continuation_stolen = 0;

/// What the ABI wants kept over a call and no register holds: how floating-point numbers are rounded, and the like.
struct control_words {
#if HEIST_X86_64
  std::uint32_t mxcsr = 0x1f80;
  std::uint16_t x87 = 0x037f;
  static control_words now() noexcept {
    control_words w;
    asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(w.mxcsr), "=m"(w.x87));
    return w;
  }
  void install() const noexcept {
    asm volatile("ldmxcsr %0\n\tfldcw %1" : : "m"(mxcsr), "m"(x87));
  }
#elif HEIST_AARCH64
  std::uint64_t fpcr = 0;
  static control_words now() noexcept {
    control_words w;
    asm volatile("mrs %0, fpcr" : "=r"(w.fpcr));
    return w;
  }
  void install() const noexcept {
    asm volatile("msr fpcr, %0" : : "r"(fpcr));
  }
#else
  static control_words now() noexcept {
    return {};
  }
  void install() const noexcept {}
#endif
};

/// Tops of stacks are moved against each other by multiples of two cache lines, so that the hot ends of many stacks do
/// not fall into the same cache sets.
inline constexpr unsigned stack_colours = 16;

inline char* coloured_top(stack const& memory, unsigned colour) noexcept {
  return memory.top() - (colour % stack_colours) * std::size_t{2} * cache_line_size;
}

}  // namespace heist::detail
