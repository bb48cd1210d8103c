// Stands before the functions of the system that heist's headers call, refuses the calls that a fault names, and passes
// everything else on. To be included by one file of a program, before it calls any of them. Calls that come from shared
// libraries are left alone.
#pragma once

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstddef>

#include "faults/fault_sites.hpp"

extern "C" {
extern char const __executable_start[];  // by the linker
extern char const etext[];
int __register_atfork(void (*)(), void (*)(), void (*)(), void*) noexcept;
extern void* __dso_handle;
}

namespace {

using heist_test::must_fail;
using heist_test::site_of;

/// Was the call made by the program itself, which heist is a part of?
HEIST_NO_TSAN inline bool ours(void const* return_address) noexcept {
  auto const* const at = static_cast<char const*>(return_address);
  return at >= __executable_start && at < etext;
}

/// Stacks that heist has mapped and not given back.
std::atomic<long> live_stacks{0};

/// A mapping that munmap was not allowed to take back, until settle().
struct kept_mapping {
  void* at;
  std::size_t bytes;
};
constexpr unsigned most_kept = 4096;
kept_mapping kept[most_kept];
std::atomic<unsigned> kept_count{0};

/// The answers to calls for a machine's counters; see interposed_files.hpp.
long (*answer_perf_open)(bool rejected, int leader) = nullptr;
void* (*answer_perf_map)(int file) = nullptr;
bool (*answer_perf_unmap)(void* page) = nullptr;
bool (*reject_write)(int file) = nullptr;

using mmap_function = void*(void*, std::size_t, int, int, int, off_t);
using munmap_function = int(void*, std::size_t);

HEIST_NO_TSAN mmap_function* real_mmap() noexcept {
  static constinit heist_test::next_function<mmap_function> f{"mmap"};
  return f;
}
HEIST_NO_TSAN munmap_function* real_munmap() noexcept {
  static constinit heist_test::next_function<munmap_function> f{"munmap"};
  return f;
}

HEIST_NO_TSAN int reject_with(int error) noexcept {
  errno = error;
  return -1;
}

/// Gives back the mappings that munmap was not allowed to take.
[[maybe_unused]] void settle() noexcept {
  for (unsigned i = 0, n = kept_count.exchange(0); i < n && i < most_kept; ++i)
    real_munmap()(kept[i].at, kept[i].bytes);
}

using syscall_function = long(long, ...);
HEIST_NO_TSAN long real_syscall(long number, long const (&a)[6]) noexcept {
  static constinit heist_test::next_function<syscall_function> f{"syscall"};
  return f(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

HEIST_NO_TSAN long interposed_futex(long const (&a)[6]) noexcept {
  static std::atomic<unsigned> turn{0};
  auto const operation = static_cast<int>(a[1]) & FUTEX_CMD_MASK;
  if (operation == FUTEX_WAIT && must_fail(site_of("futex wait"))) {
    // Interrupted, changed, timed out, or nothing at all: all of them may wake a thread for no reason.
    int const errors[] = {EINTR, EAGAIN, 0, EINTR, a[3] != 0 ? ETIMEDOUT : EINTR};
    int const error = errors[turn.fetch_add(1) % std::size(errors)];
    return error == 0 ? 0 : reject_with(error);
  }
  if (operation == FUTEX_WAKE && must_fail(site_of("futex wake"))) {
    // As if the word belonged to another object by now, or its memory were gone. Other threads are woken instead or as
    // well.
    long const wake_all[6] = {a[0], a[1], INT_MAX, 0, 0, 0};
    real_syscall(SYS_futex, wake_all);
    return reject_with(EFAULT);
  }
  return real_syscall(SYS_futex, a);
}

}  // namespace

extern "C" {

HEIST_NOINLINE HEIST_NO_TSAN void* mmap(void* at, std::size_t bytes, int protection, int flags, int file,
                                        off_t offset) noexcept {
  if (ours(__builtin_return_address(0))) {
    if ((flags & MAP_STACK) != 0) {
      if (must_fail(site_of("stack mmap"))) return reject_with(ENOMEM), MAP_FAILED;
      void* const made = real_mmap()(at, bytes, protection, flags, file, offset);
      if (made != MAP_FAILED) ++live_stacks;
      return made;
    }
    if (file >= 0 && (flags & MAP_SHARED) != 0) {
      if (must_fail(site_of("perf mmap"))) return reject_with(EPERM), MAP_FAILED;
      if (answer_perf_map != nullptr) return answer_perf_map(file);
    }
  }
  return real_mmap()(at, bytes, protection, flags, file, offset);
}

HEIST_NOINLINE HEIST_NO_TSAN int munmap(void* at, std::size_t bytes) noexcept {
  if (ours(__builtin_return_address(0))) {
    if (answer_perf_unmap != nullptr && answer_perf_unmap(at)) {
      return must_fail(site_of("perf munmap")) ? reject_with(EINVAL) : 0;
    }
    --live_stacks;
    if (must_fail(site_of("stack munmap"))) {
      unsigned const n = kept_count.fetch_add(1);
      if (n < most_kept) kept[n] = {at, bytes};
      return reject_with(ENOMEM);
    }
  }
  return real_munmap()(at, bytes);
}

HEIST_NOINLINE HEIST_NO_TSAN int madvise(void* at, std::size_t bytes, int advice) noexcept {
  static constinit heist_test::next_function<int(void*, std::size_t, int)> f{"madvise"};
  if (ours(__builtin_return_address(0))) {
    bool const back = advice == MADV_DONTNEED;
    if (must_fail(back ? site_of("memory given back") : site_of("guard madvise"))) return reject_with(EINVAL);
  }
  return f(at, bytes, advice);
}

HEIST_NOINLINE HEIST_NO_TSAN int mprotect(void* at, std::size_t bytes, int protection) noexcept {
  static constinit heist_test::next_function<int(void*, std::size_t, int)> f{"mprotect"};
  if (ours(__builtin_return_address(0)) && must_fail(site_of("guard mprotect"))) return reject_with(ENOMEM);
  return f(at, bytes, protection);
}

/// The sanitizer's, where its runtime is linked into the program: it must know all threads.
__attribute__((weak)) int __interceptor_pthread_create(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*);

/// std::thread lives in a shared library, so every thread of the program counts.
HEIST_NOINLINE HEIST_NO_TSAN int pthread_create(pthread_t* thread, pthread_attr_t const* attributes,
                                                void* (*start)(void*), void* argument) noexcept {
  using function = int(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*);
  static constinit heist_test::next_function<function> f{"pthread_create"};
  if (must_fail(site_of("thread"))) return EAGAIN;
  if (__interceptor_pthread_create != nullptr) return __interceptor_pthread_create(thread, attributes, start, argument);
  return f(thread, attributes, start, argument);
}

HEIST_NOINLINE HEIST_NO_TSAN int pthread_atfork(void (*prepare)(), void (*parent)(), void (*child)()) noexcept {
  if (must_fail(site_of("fork handler"))) return ENOMEM;
  return __register_atfork(prepare, parent, child, &__dso_handle);
}

// Takes six arguments, however many there are: AddressSanitizer would see the caller's frame being read.
__attribute__((no_sanitize("address"))) HEIST_NOINLINE HEIST_NO_TSAN long syscall(long number, ...) noexcept {
  long a[6];
  va_list list;
  va_start(list, number);
  for (long& each : a) each = va_arg(list, long);
  va_end(list);
  if (!ours(__builtin_return_address(0))) return real_syscall(number, a);
  switch (number) {
    case SYS_futex:
      return interposed_futex(a);
    case SYS_membarrier:
      if (a[0] == MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) {
        if (must_fail(site_of("membarrier register"))) return reject_with(ENOSYS);
      } else if (must_fail(site_of("membarrier"))) {
        return reject_with(ENOMEM);
      }
      break;
    case SYS_perf_event_open: {
      bool const rejected = must_fail(site_of("perf open"));
      if (answer_perf_open != nullptr) return answer_perf_open(rejected, static_cast<int>(a[3]));
      if (rejected) return reject_with(EMFILE);
      break;
    }
    case SYS_move_pages:
      if (must_fail(site_of("page nodes"))) return reject_with(EPERM);
      break;
    case SYS_getcpu:
      if (must_fail(site_of("own node"))) return reject_with(ENOSYS);
      break;
    default:
      break;
  }
  return real_syscall(number, a);
}

HEIST_NOINLINE HEIST_NO_TSAN int sched_getaffinity(pid_t thread, std::size_t bytes, cpu_set_t* set) noexcept {
  static constinit heist_test::next_function<int(pid_t, std::size_t, cpu_set_t*)> f{"sched_getaffinity"};
  if (ours(__builtin_return_address(0)) && must_fail(site_of("affinity read"))) return reject_with(EPERM);
  return f(thread, bytes, set);
}

HEIST_NOINLINE HEIST_NO_TSAN int sched_setaffinity(pid_t thread, std::size_t bytes, cpu_set_t const* set) noexcept {
  static constinit heist_test::next_function<int(pid_t, std::size_t, cpu_set_t const*)> f{"sched_setaffinity"};
  if (ours(__builtin_return_address(0)) && must_fail(site_of("affinity set"))) return reject_with(EINVAL);
  return f(thread, bytes, set);
}

HEIST_NOINLINE HEIST_NO_TSAN cpu_set_t* __sched_cpualloc(std::size_t cpus) noexcept {
  static constinit heist_test::next_function<cpu_set_t*(std::size_t)> f{"__sched_cpualloc"};
  if (ours(__builtin_return_address(0)) && must_fail(site_of("affinity mask"))) return reject_with(ENOMEM), nullptr;
  return f(cpus);
}

HEIST_NOINLINE HEIST_NO_TSAN int sched_yield() noexcept {
  static constinit heist_test::next_function<int()> f{"sched_yield"};
  if (ours(__builtin_return_address(0)) && must_fail(site_of("yield"))) return reject_with(ENOSYS);
  return f();
}

HEIST_NOINLINE HEIST_NO_TSAN long sysconf(int name) noexcept {
  static constinit heist_test::next_function<long(int)> f{"sysconf"};
  if (ours(__builtin_return_address(0))) {
    if (name == _SC_SIGSTKSZ && must_fail(site_of("handler stack size"))) return reject_with(EINVAL);
    // It cannot fail; but other machines have larger pages.
    if (name == _SC_PAGESIZE && must_fail(site_of("page size"))) return 65536;
  }
  return f(name);
}

HEIST_NOINLINE HEIST_NO_TSAN int clock_gettime(clockid_t clock, timespec* now) noexcept {
  static constinit heist_test::next_function<int(clockid_t, timespec*)> f{"clock_gettime"};
  int const result = f(clock, now);
  // An hour later at once: the machine was asleep.
  if (ours(__builtin_return_address(0)) && must_fail(site_of("clock"))) now->tv_sec += 3600;
  return result;
}

#if !HEIST_TSAN && !HEIST_ASAN  // their runtimes call these before they are ready, and heist does not
HEIST_NOINLINE HEIST_NO_TSAN int sigaltstack(stack_t const* wanted, stack_t* before) noexcept {
  static constinit heist_test::next_function<int(stack_t const*, stack_t*)> f{"sigaltstack"};
  if (ours(__builtin_return_address(0)) && wanted != nullptr) {
    bool const off = (wanted->ss_flags & SS_DISABLE) != 0;
    if (must_fail(off ? site_of("handler stack off") : site_of("handler stack"))) return reject_with(ENOMEM);
  }
  return f(wanted, before);
}

HEIST_NOINLINE HEIST_NO_TSAN int sigaction(int signal, struct sigaction const* wanted,
                                           struct sigaction* before) noexcept {
  static constinit heist_test::next_function<int(int, struct sigaction const*, struct sigaction*)> f{"sigaction"};
  // heist's handler is the one that asks for its own stack and for details; the default handler ends the program.
  if (ours(__builtin_return_address(0)) && signal == SIGSEGV && wanted != nullptr) {
    if ((wanted->sa_flags & (SA_SIGINFO | SA_ONSTACK)) == (SA_SIGINFO | SA_ONSTACK) && before != nullptr) {
      if (must_fail(site_of("overflow handler"))) return reject_with(EPERM);
    } else if (wanted->sa_handler == SIG_DFL && before == nullptr) {
      if (must_fail(site_of("overflow handler off"))) return reject_with(EPERM);
    }
  }
  return f(signal, wanted, before);
}
#endif

HEIST_NOINLINE HEIST_NO_TSAN ssize_t write(int file, void const* from, std::size_t bytes) {
  static constinit heist_test::next_function<ssize_t(int, void const*, std::size_t)> f{"write"};
  if (reject_write != nullptr && reject_write(file)) return reject_with(ENOSPC);
  if (file == STDERR_FILENO && ours(__builtin_return_address(0)) && must_fail(site_of("overflow message"))) {
    return reject_with(EAGAIN);
  }
  return f(file, from, bytes);
}

}  // extern "C"
