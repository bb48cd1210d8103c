// The seam to the outside world. Every protocol of heist is a template over an environment; os_env is the one that
// users run. tests/model/ supplies another in which every interleaving is tried.
#pragma once

#include <linux/membarrier.h>  // MEMBARRIER_CMD_PRIVATE_EXPEDITED
#include <pthread.h>           // pthread_atfork
#include <sched.h>             // sched_yield
#include <sys/syscall.h>       // SYS_membarrier
#include <time.h>              // clock_gettime
#include <unistd.h>            // getpid, syscall

#include <atomic>
#include <cerrno>  // errno, saved around a call
#include <cstdint>
#include <new>  // bad_alloc

#include "heist/core/base/assert.hpp"
#include "heist/core/base/config.hpp"
#include "heist/core/base/park_word.hpp"
#include "heist/core/base/wake_place.hpp"

namespace heist {

namespace detail {

/// Orders earlier stores before later loads.
HEIST_ALWAYS_INLINE void full_fence() noexcept {
#if HEIST_X86_64
  // A locked no-op on the stack: compilers emit mfence for a seq_cst fence, which costs two to three times as much on
  // the processors we measured. It is at the end of the red zone: leaf functions seldom have live data there, and
  // memcheck reports accesses below it as errors.
  asm volatile("lock; orl $0, -128(%%rsp)" ::: "memory", "cc");
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace detail

/// The protocols' interface to the machine.
///
/// Rules for code that is a template over Env: name every memory order; no seq_cst accesses (use fence());
/// call relax() or yield() in every retry loop; sleep only on park_word; fields shared without atomics are plain<T>.
struct os_env {
  template <class T>
  using atomic = std::atomic<T>;
  /// A field that threads hand to each other; the model checks it for races.
  template <class T>
  using plain = T;
  using park_word = heist::park_word;
  using sleeper_place = detail::sleeper_place;

  /// Accesses a plain field that several threads use at a time: all of them through these functions, or one thread that
  /// writes and reads it directly while other threads only load_shared() it. By default it orders nothing.
  template <class T>
  HEIST_ALWAYS_INLINE static void store_shared(T& field, T value,
                                               std::memory_order order = std::memory_order_relaxed) noexcept {
    std::atomic_ref{field}.store(value, order);
  }
  template <class T>
  static T load_shared(T& field, std::memory_order order = std::memory_order_relaxed) noexcept {
    return std::atomic_ref{field}.load(order);
  }

  /// Width of the index of a deque; narrow in tests so that it wraps.
  using index = std::int64_t;
  /// Width of the EventCount's epoch; 2 in tests that show what goes wrong when it wraps.
  static constexpr unsigned epoch_bits = 27;

  static void fence(std::memory_order order) noexcept {
    if (order == std::memory_order_seq_cst) {
      detail::full_fence();
    } else {
      asm volatile("" ::: "memory");
      if constexpr (!is_x86_64 && !under_tsan) std::atomic_thread_fence(order);
    }
  }

  /// A pair of fences, one nearly free and one dear. If a light fence in one thread and a heavy fence in another
  /// each stand between a store and a later load, at least one of the two loads sees the other's store.
  /// Two light fences order nothing between each other.
  static void light_fence() noexcept {
    if (fences_all_threads()) {
      free_fence();
    } else {
      detail::full_fence();
    }
  }
  static void heavy_fence() noexcept {
    detail::full_fence();
    // A shared library's own copy of this header may not have asked yet, while its workers are of another copy.
    if (fences_.load(std::memory_order_relaxed) == fences::unknown) [[unlikely]]  // relaxed: as above
      prepare();
    if (fences_all_threads() && !fence_all_threads()) [[unlikely]]
      insist_on_fence();
  }
  /// Does a heavy fence fence all threads of the process? The kernel may refuse.
  static bool fences_all_threads() noexcept {
    // relaxed: set by prepare(), before any thread that needs it
    return fences_.load(std::memory_order_relaxed) == fences::asymmetric;
  }
  /// A light fence if fences_all_threads(), otherwise none. It costs nothing: the compiler alone has to keep the order.
  static void free_fence() noexcept { asm volatile("" ::: "memory"); }

  /// In a retry loop: tells the processor that another thread must move first.
  static void relax() noexcept {
#if HEIST_X86_64
    asm volatile("pause" ::: "memory");
#elif HEIST_AARCH64
    asm volatile("yield" ::: "memory");
#endif
  }
  /// A clock for comparing short times, in ticks of some nanosecond or less.
  static std::uint64_t ticks() noexcept {
#if HEIST_X86_64
    return __builtin_ia32_rdtsc();
#elif HEIST_AARCH64
    std::uint64_t now;
    asm volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
#else
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
#endif
  }
  /// A clock for times that people read.
  static std::int64_t nanoseconds() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }
  /// The same clock, as it was a few milliseconds ago at most, for a fifth of the cost.
  static std::int64_t coarse_nanoseconds() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  }
  /// Gives the core to another runnable thread, if there is one.
  static void yield() noexcept {
    ::sched_yield();
  }
  /// Between two rounds of a loop that only reads until another thread has done the few instructions that are left to
  /// it; after the `nth` one. It may need this very core.
  static void spin(std::uint32_t nth) noexcept {
    if (nth % 64 == 63) {
      yield();
    } else {
      relax();
    }
  }
  /// The calling thread, as the system numbers it.
  static int thread_number() noexcept {
    return static_cast<int>(::syscall(SYS_gettid));
  }
  /// For a thread that looks again and again and has found nothing for the `nth` time: yields at first, then sleeps for
  /// longer and longer, up to a millisecond.
  static void nap(std::uint32_t nth) noexcept {
    if (nth < 16) return yield();
    std::uint32_t const doubled = nth < 24 ? nth - 16 : 8;
    timespec const time{0, 4'000L << doubled};
    int const saved = errno;
    ::nanosleep(&time, nullptr);
    errno = saved;
  }

  /// This process, another number than its parent's; not 0. A child of fork() has its own from the start if
  /// watch_forks() was called before.
  static unsigned process() noexcept {
    unsigned const known = process_.load(std::memory_order_relaxed);  // relaxed: changes only in a new process
    return known != 0 ? known : note_process();
  }
  /// Throws bad_alloc if the system has no memory to note it; another call tries again.
  static void watch_forks() {
    static bool const watched = [] {
      if (::pthread_atfork(nullptr, nullptr, [] { note_process(); }) != 0) throw std::bad_alloc{};
      return true;
    }();
    static_cast<void>(watched);
  }

 private:
  enum class fences : unsigned char { unknown, full, asymmetric };
  HEIST_ONE_COPY static inline constinit std::atomic<fences> fences_{fences::unknown};
  HEIST_ONE_COPY static inline constinit std::atomic<unsigned> process_{0};

  /// The process's id, not a count: copies of this header in shared libraries agree on it.
  HEIST_COLD static unsigned note_process() noexcept {
    auto const now = static_cast<unsigned>(::getpid());
    process_.store(now, std::memory_order_relaxed);  // relaxed: all threads store the same
    return now;
  }

  /// Never inlined: the address of errno is declared constant, and a frame that calls this may move to another thread.
  HEIST_NOINLINE static bool fence_all_threads() noexcept {
    int const saved = errno;
    bool const fenced = ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
    errno = saved;
    return fenced;
  }
  /// Threads that have fenced lightly rely on the heavy fence: without it a wakeup would be lost
  /// unnoticed.
  HEIST_COLD static void insist_on_fence() noexcept {
    for (int attempts = 0; attempts != 1000; ++attempts) {
      yield();  // the kernel may lack memory for a moment
      if (fence_all_threads()) return;
    }
    HEIST_FATAL(
        "the kernel's expedited membarrier, which it had granted to this process, is refused now; fix it by a sandbox "
        "(seccomp) that allows membarrier, or that is entered before the first executor is made");
  }

 public:
  /// Asks the kernel once for its expedited membarrier, without which a light fence is a full one (some sandboxes and
  /// emulators refuse). An executor calls it before it starts threads.
  static void prepare() noexcept {
    static bool const allowed = ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
    // relaxed: starting a thread publishes it
    fences_.store(allowed ? fences::asymmetric : fences::full, std::memory_order_relaxed);
  }
};

}  // namespace heist
