// Tells AddressSanitizer and ThreadSanitizer about switches of stacks; nothing without them.
#pragma once

#include <cstddef>
#include <cstdint>  // uintptr_t

#include "heist/core/base/config.hpp"

#if HEIST_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#include <sanitizer/lsan_interface.h>
#endif
#if HEIST_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace heist::detail {

/// The data that the sanitizers need on one context of control that is switched to and from.
struct sanitizer_state {
  void* fake_stack = nullptr;    // ASan: where the locals of frames under detect_stack_use_after_return live
  void const* bottom = nullptr;  // ASan: lowest byte of the stack
  std::size_t size = 0;          // ASan
  bool registered = false;       // ASan: LeakSanitizer looks there
  char* unused = nullptr;        // ASan: where it last stopped; nothing below is in use until it resumes
  void* thread = nullptr;        // TSan: the fiber's own clock
  bool owns_thread = false;      // TSan: false for a thread's own stack
};

inline void sanitizer_create([[maybe_unused]] sanitizer_state& s, [[maybe_unused]] void const* bottom,
                             [[maybe_unused]] std::size_t size) noexcept {
  s.bottom = bottom;
  s.size = size;
#if HEIST_ASAN
  s.registered = true;
  __lsan_register_root_region(bottom, size);  // memory that a waiting task alone refers to is no leak
#endif
#if HEIST_TSAN
  s.thread = __tsan_create_fiber(0);
  s.owns_thread = true;
#endif
}

/// For the stack that a thread was born with.
inline void sanitizer_adopt_thread([[maybe_unused]] sanitizer_state& s) noexcept {
#if HEIST_TSAN
  s.thread = __tsan_get_current_fiber();
#endif
}

#if HEIST_ASAN
/// ASan frees the fake stack of a fiber only when that fiber leaves for the last time. So the thread passes for the
/// stopped one, which has no frames any more, and leaves it so.
__attribute__((no_sanitize("address"))) inline void sanitizer_free_fake_stack(sanitizer_state& s) noexcept {
  void* own_fake_stack = nullptr;
  void const* own_bottom = nullptr;
  std::size_t own_size = 0;
  __sanitizer_start_switch_fiber(&own_fake_stack, s.bottom, s.size);
  __sanitizer_finish_switch_fiber(s.fake_stack, &own_bottom, &own_size);
  __sanitizer_start_switch_fiber(nullptr, own_bottom, own_size);
  __sanitizer_finish_switch_fiber(own_fake_stack, nullptr, nullptr);
  s.fake_stack = nullptr;
}
#endif

/// Of a context that is not running.
inline void sanitizer_destroy([[maybe_unused]] sanitizer_state& s) noexcept {
#if HEIST_TSAN
  if (s.owns_thread) __tsan_destroy_fiber(s.thread);
#endif
#if HEIST_ASAN
  if (s.bottom != nullptr) __asan_unpoison_memory_region(s.bottom, s.size);
  if (s.registered) {
    __lsan_unregister_root_region(s.bottom, s.size);
    if (s.fake_stack != nullptr) sanitizer_free_fake_stack(s);
  }
#endif
}

#if HEIST_ASAN
/// How far below `end` a stack that is not running is marked: to mark all of it would take longer than a fork.
inline char* sanitizer_marked_from(sanitizer_state const& s, char* end) noexcept {
  constexpr std::ptrdiff_t marked = std::ptrdiff_t{16} << 10;
  auto* const bottom = const_cast<char*>(static_cast<char const*>(s.bottom));
  return end - bottom > marked ? end - marked : bottom;
}
#endif

/// Right before the jump from `from` to `to`. `from_ends`: it will not be switched back to.
HEIST_ALWAYS_INLINE void sanitizer_leave([[maybe_unused]] sanitizer_state& from, [[maybe_unused]] sanitizer_state& to,
                                         [[maybe_unused]] bool from_ends) noexcept {
#if HEIST_ASAN
  if (to.unused != nullptr) {
    char* const first = sanitizer_marked_from(to, to.unused);
    __asan_unpoison_memory_region(first, static_cast<std::size_t>(to.unused - first));
  }
  if (from_ends) from.fake_stack = nullptr;  // ASan frees it now
  __sanitizer_start_switch_fiber(from_ends ? nullptr : &from.fake_stack, to.bottom, to.size);
#endif
#if HEIST_TSAN
  __tsan_switch_to_fiber(to.thread, 0);
#endif
}

/// Right after the jump, on the side of `to`. `stopped`: nothing below it on the stack of `from` is in use. ASan
/// reports code that touches that, and LeakSanitizer does not take it for a place that still refers to memory.
HEIST_ALWAYS_INLINE void sanitizer_arrive([[maybe_unused]] sanitizer_state& from, [[maybe_unused]] sanitizer_state& to,
                                          [[maybe_unused]] void* stopped) noexcept {
#if HEIST_ASAN
  void const* bottom = nullptr;
  std::size_t size = 0;
  __sanitizer_finish_switch_fiber(to.fake_stack, &bottom, &size);
  if (from.bottom == nullptr) {  // a thread's own stack, seen for the first time
    from.bottom = bottom;
    from.size = size;
  }
  if (from.registered) {
    // Whole granules of ASan's.
    from.unused = reinterpret_cast<char*>(reinterpret_cast<std::uintptr_t>(stopped) & ~std::uintptr_t{7});
    char* const first = sanitizer_marked_from(from, from.unused);
    __asan_poison_memory_region(first, static_cast<std::size_t>(from.unused - first));
  }
#endif
}

}  // namespace heist::detail
