// The only file with compiler or platform conditionals: facts about the compiler, the sanitizers and the processor.
#pragma once

// First of all, before any header that would fail in its own words.
#if !defined(__cplusplus) || __cplusplus < 202002L
#error "heist: needs C++20; fix it by -std=c++20 (GCC 11 or later, clang 14 or later)."
#endif
#if !defined(__cpp_exceptions) && !defined(__EXCEPTIONS)
#error "heist: needs exceptions, which carry what goes wrong in tasks; fix it by leaving out -fno-exceptions."
#endif
#if __cplusplus >= 202002L
#include <version>
#if !defined(__cpp_lib_jthread)
#error \
    "heist: this standard library has no <stop_token>; fix it by libstdc++ 11 or later (-stdlib=libstdc++), or libc++ 20."
#endif
#endif

#include <cstddef>  // size_t
#include <cstdint>  // uintptr_t

#if defined(__SANITIZE_THREAD__)
#define HEIST_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HEIST_TSAN 1
#endif
#endif
#ifndef HEIST_TSAN
#define HEIST_TSAN 0
#endif

#if defined(__SANITIZE_ADDRESS__)
#define HEIST_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEIST_ASAN 1
#endif
#endif
#ifndef HEIST_ASAN
#define HEIST_ASAN 0
#endif

#if defined(__x86_64__)
#define HEIST_X86_64 1
#else
#define HEIST_X86_64 0
#endif
#if defined(__aarch64__)
#define HEIST_AARCH64 1
#else
#define HEIST_AARCH64 0
#endif

#if (defined(__CET__) && (__CET__ & 2)) || defined(__ARM_FEATURE_GCS_DEFAULT)
#define HEIST_SHADOW_STACK 1
#else
#define HEIST_SHADOW_STACK 0
#endif

/// Do flows switch by our own code? Boost.Context does it under the sanitizers, which know its ways, with shadow stacks
/// (CET), and on processors that we have no code for. HEIST_SWITCH_BOOST and HEIST_SWITCH_NATIVE (the build option
/// HEIST_SWITCH) force either; the same in all translation units of a program.
#if (HEIST_X86_64 || HEIST_AARCH64) && !HEIST_TSAN && !HEIST_ASAN && !HEIST_SHADOW_STACK && !defined(HEIST_SWITCH_BOOST)
#define HEIST_NATIVE_SWITCH 1
#else
#define HEIST_NATIVE_SWITCH 0
#endif
#if defined(HEIST_SWITCH_NATIVE) && !HEIST_NATIVE_SWITCH
#error \
    "heist: HEIST_SWITCH=native needs x86-64 or AArch64, no sanitizer and no shadow stacks; fix it by HEIST_SWITCH=auto."
#endif

/// Does the compiler know coroutines as the standard does?
#if defined(__cpp_impl_coroutine)
#define HEIST_COROUTINES 1
#else
#define HEIST_COROUTINES 0
#endif

#define HEIST_NOINLINE __attribute__((noinline))
/// Of a function that is as dear as a fork: at the start of a cache line, so that its speed does not depend on the code
/// before it.
#define HEIST_NOINLINE_ALIGNED __attribute__((noinline, aligned(64)))
/// Code that is inlined into users' functions uses this in place of [[likely]]. GCC takes [[likely]] for a statement
/// about every path that leads there, and then no longer splits a recursion's end from the rest.
#define HEIST_LIKELY(condition) __builtin_expect(static_cast<bool>(condition), 1)
#define HEIST_UNLIKELY(condition) __builtin_expect(static_cast<bool>(condition), 0)
#define HEIST_COLD __attribute__((noinline, cold))
#define HEIST_ALWAYS_INLINE inline __attribute__((always_inline))
/// Before a loop around a user's few instructions: several at a time, so that its speed does not depend on the loop's
/// place in a cache line (GCC aligns loops to 16 bytes; Clang unrolls by itself). The loop's condition compares
/// numbers: where it compares iterators of classes GCC says in every user's file that it ignores this.
#if defined(__GNUC__) && !defined(__clang__)
#define HEIST_UNROLL _Pragma("GCC unroll 4")
#else
#define HEIST_UNROLL
#endif
/// As in CMakeLists.txt.
#define HEIST_VERSION "0.2.0"
/// By default headers include their bodies, the .ipp beside them. With HEIST_SEPARATE_COMPILATION they do not: one file
/// of the program includes heist/src.hpp, or the program links heist::compiled.
/// HEIST_BODY is before bodies in an .ipp, and before declarations of virtual functions that have one. GCC compiles all
/// bodies of a class in every file that defines its first virtual function out of class.
#if defined(HEIST_SEPARATE_COMPILATION)
#define HEIST_HEADER_ONLY 0
#define HEIST_BODY
#define HEIST_COLD_BODY
#else
#define HEIST_HEADER_ONLY 1
#define HEIST_BODY inline
/// Of bodies that run seldom. GCC has one budget of inlining for a whole file: inlining these bodies would take from
/// the inlining of users' forks.
#define HEIST_COLD_BODY inline __attribute__((cold))
#endif
/// Of declarations whose bodies are in an .ipp, and run seldom.
#define HEIST_RARE __attribute__((cold))
/// Of variables that a process is to have once, also where shared libraries are compiled with -fvisibility=hidden. The
/// dynamic linker sees to it where it can: not with a main program that exports nothing.
#define HEIST_ONE_COPY __attribute__((visibility("default")))
/// For functions that switch stacks under ThreadSanitizer, whose shadow stack must not see them.
#define HEIST_NO_TSAN __attribute__((no_sanitize("thread")))

namespace heist {

/// True when the code is compiled under the named sanitizer; used with `if constexpr`, never to change a type.
inline constexpr bool under_tsan = HEIST_TSAN != 0;
inline constexpr bool under_asan = HEIST_ASAN != 0;
inline constexpr bool is_x86_64 = HEIST_X86_64 != 0;
inline constexpr bool is_aarch64 = HEIST_AARCH64 != 0;
inline constexpr bool native_switch = HEIST_NATIVE_SWITCH != 0;

/// Bytes that two threads must keep apart to write without disturbing each other. 64 on the processors we measure on. A
/// constant, not `std::hardware_destructive_interference_size`, so that no flag changes a layout.
inline constexpr std::size_t cache_line_size = 64;

namespace detail {
/// Where on its stack the calling code is, roughly; needs no frame pointer, as the builtin does.
HEIST_ALWAYS_INLINE std::uintptr_t stack_address() noexcept {
#if HEIST_X86_64
  std::uintptr_t here;
  asm("movq %%rsp, %0" : "=r"(here));
  return here;
#elif HEIST_AARCH64
  std::uintptr_t here;
  asm("mov %0, sp" : "=r"(here));
  return here;
#else
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
#endif
}

/// Is the transfer from one coroutine to another a jump in the code that calls this? Clang: always. GCC: with
/// -foptimize-sibling-calls, which no macro shows, and without sanitizers. It comes at the same levels as -fstrict-aliasing
/// (-O2, -O3, -Os), which shows here: the compiler then knows that a store to a float leaves an int as it was. Costs no
/// instruction. Wrong where a program sets only one of the two options by itself.
HEIST_ALWAYS_INLINE bool transfer_is_jump() noexcept {
#if defined(__clang__)
  return true;
#elif !defined(__OPTIMIZE__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;
#else
  alignas(8) unsigned char places[16];
  std::uintptr_t first = 0, second = 8;
  asm("" : "+r"(first), "+r"(second));  // hides from the compiler that the places are different
  int* const number = reinterpret_cast<int*>(places + (first & 8));
  float* const other = reinterpret_cast<float*>(places + (second & 8));
  *number = 1;
  *other = 0;
  return __builtin_constant_p(*number);
#endif
}
}  // namespace detail

}  // namespace heist
