// How a thread computes with floating-point numbers: its rounding mode and its handling of denormals and exceptions.
#pragma once

#include <cstdint>

#include "heist/core/base/config.hpp"

namespace heist::detail {

/// State that the ABI wants kept over a call and no general register holds: the rounding of floating-point numbers, and
/// the like.
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
  /// The modes, without the flags of exceptions that have occurred.
  control_words modes() const noexcept {
    return with_flags_of({0, 0});
  }
  /// These modes, and the flags of `other`.
  control_words with_flags_of(control_words other) const noexcept {
    control_words w = *this;
    w.mxcsr = (mxcsr & ~flags) | (other.mxcsr & flags);
    return w;
  }
  static constexpr std::uint32_t flags = 0x3f;
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
  control_words modes() const noexcept {
    return *this;
  }  // the flags are in another register
  control_words with_flags_of(control_words) const noexcept {
    return *this;
  }
#else
  static control_words now() noexcept {
    return {};
  }
  void install() const noexcept {}
  control_words modes() const noexcept {
    return *this;
  }
  control_words with_flags_of(control_words) const noexcept {
    return *this;
  }
#endif
  friend bool operator==(control_words const&, control_words const&) = default;
};

/// The calling code computes in these modes for as long as this lives, then in its own again. The flags of exceptions
/// stay as they are.
class in_modes {
 public:
  explicit in_modes(control_words wanted) noexcept;
  in_modes(in_modes const&) = delete;
  in_modes& operator=(in_modes const&) = delete;
  ~in_modes();

 private:
  control_words const before_;
  bool changes_;
};

/// While a task runs. Debug builds end the program if it leaves other modes to the next task than it found.
class keeps_modes {
 public:
  keeps_modes() noexcept {
#ifndef NDEBUG
    before_ = control_words::now();
#endif
  }
  keeps_modes(keeps_modes const&) = delete;
  keeps_modes& operator=(keeps_modes const&) = delete;
  ~keeps_modes() {
#ifndef NDEBUG
    check(before_);
#endif
  }

 private:
  HEIST_RARE static void check(control_words before) noexcept;

  control_words before_;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/fiber/control_words.ipp"
#endif
