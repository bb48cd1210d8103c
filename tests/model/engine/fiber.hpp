// Virtual threads: a stack each, switched by Boost.Context. They are dropped, never unwound, when an execution is
// given up: the code under test is noexcept.
#pragma once

#include <cxxabi.h>
#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "mix.hpp"
#include "tape.hpp"

namespace model {

/// One stack. start() makes it new; resume() runs it until it calls pause().
class fiber {
 public:
  /// `entry` must end in pause(), for ever.
  void start(void (*entry)()) noexcept {
    if (stack_ == nullptr) stack_ = map_stack();
    std::memset(stack_ + guard + size - 2 * cleared, 0, 2 * cleared);
    context_ = boost::context::detail::make_fcontext(stack_ + guard + size, size, &begin);
    entry_ = entry;
    exceptions_ = {};
  }

  void resume() noexcept {
    exception_state const outside = swap_exceptions(exceptions_);
    context_ = boost::context::detail::jump_fcontext(context_, this).fctx;
    exceptions_ = swap_exceptions(outside);
  }

  /// A number for the whole stack of a fiber that is not running. The memory below is cleared: the frames that come
  /// there next begin alike.
  std::uint64_t image() noexcept {
    auto* const low = static_cast<char*>(context_);
    std::memset(low - cleared, 0, cleared);
    // The word at the top is left out: it holds the flags of floating-point arithmetic.
    return mix_bytes(reinterpret_cast<std::uintptr_t>(low), low + 8,
                     static_cast<std::size_t>(stack_ + guard + size - low - 8) / 8 * 8);
  }

  /// Of a fiber that is not running.
  void save(tape& to) const noexcept {
    auto const* const low = static_cast<char const*>(context_);
    to.put(context_);
    to.put(entry_);
    to.put(exceptions_);
    to.put(low, static_cast<std::size_t>(stack_ + guard + size - low));
  }
  void restore(tape& from) noexcept {
    from.get(context_);
    from.get(entry_);
    from.get(exceptions_);
    auto* const low = static_cast<char*>(context_);
    from.get(low, static_cast<std::size_t>(stack_ + guard + size - low));
    std::memset(low - cleared, 0, cleared);
  }

  /// Clears the memory that the engine has written on the stack of the running fiber, below the frames of the code
  /// under test. The frames that come there next begin alike, whatever happened before.
  [[gnu::noinline]] static void clear_below() noexcept {
    std::memset(static_cast<char*>(__builtin_frame_address(0)) - 64 - cleared, 0, cleared);
  }

  /// Returns to the caller that resumed the running fiber.
  static void pause() noexcept { outside_ = boost::context::detail::jump_fcontext(outside_, nullptr).fctx; }

 private:
  // The state of exceptions that the C++ runtime keeps per thread; a switch inside a catch block would mix it up.
  struct exception_state {
    void* caught = nullptr;
    unsigned uncaught = 0;
  };

  static exception_state swap_exceptions(exception_state const& in) noexcept {
    auto* const globals = reinterpret_cast<exception_state*>(abi::__cxa_get_globals());
    exception_state const out = *globals;
    *globals = in;
    return out;
  }

  static void begin(boost::context::detail::transfer_t from) {
    outside_ = from.fctx;
    static_cast<fiber*>(from.data)->entry_();
  }

  static char* map_stack() noexcept {
    void* const memory = ::mmap(nullptr, guard + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || ::mprotect(memory, guard, PROT_NONE) != 0) {
      std::perror("model: no memory for the stack of a virtual thread");
      std::_Exit(2);
    }
    return static_cast<char*>(memory);
  }

  static constexpr std::size_t guard = 4096;
  static constexpr std::size_t size = 256 * 1024;
  static constexpr std::size_t cleared = 1024;
  static inline boost::context::detail::fcontext_t outside_ = nullptr;

  char* stack_ = nullptr;
  boost::context::detail::fcontext_t context_ = nullptr;
  void (*entry_)() = nullptr;
  exception_state exceptions_;
};

}  // namespace model
