// All places where heist makes a request to the system: which places a program has reached, and how often the request
// was refused there. tests/faults/sites_check.py compares the lists with the headers, report.py adds the programs up.
#pragma once

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>  // program_invocation_short_name
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

#include "heist/core/base/config.hpp"

namespace heist_test {

/// A place in a header below include/heist, as its code begins there. Places of one site are refused alike.
struct site_place {
  std::string_view site, file, code;
};

// clang-format off
/// One line for each place; a line for each time that a header says the same.
inline constexpr site_place site_places[] = {
    {"new", "core/memory/block_pool.hpp", "::operator new("},
    {"new", "core/base/vector.ipp", "::operator new(count * size)"},
    {"new", "core/base/large_memory.ipp", "::operator new(bytes)"},
    {"new", "parallel/coroutine/resumption.ipp", "::operator new("},
    {"new", "core/executor/async.hpp", "::operator new("},
    {"new", "core/executor/pooled.ipp", "::operator new("},
    {"new", "core/scheduler/checked_wait.ipp", "std::nothrow) checked_waiter"},
    {"new", "graph/run.ipp", "std::nothrow) task_failure"},
    {"aligned new", "", ""},
    {"aligned new", "core/base/vector.ipp", "::operator new(count * size, alignment)"},
    {"aligned new", "core/base/large_memory.ipp", "::operator new(bytes, std::align_val_t"},
    {"aligned new", "locality/region/frame_array.hpp", "::operator new("},
    {"stack mmap", "core/memory/stack.ipp", "::mmap(nullptr, all"},
    {"stack munmap", "core/memory/stack.ipp", "::munmap("},
    {"guard madvise", "core/memory/stack.ipp", "::madvise(at, guard"},
    {"memory given back", "core/memory/stack.ipp", "::madvise(bottom()"},
    {"memory given back", "core/memory/stack.ipp", "::madvise(top()"},
    {"memory given back", "core/memory/stack.ipp", "::madvise(reinterpret_cast"},
    {"guard mprotect", "core/memory/stack.ipp", "::mprotect("},
    {"page size", "core/memory/stack.ipp", "::sysconf(_SC_PAGESIZE)"},
    {"page size", "locality/counters/perf_events.ipp", "::sysconf(_SC_PAGESIZE)"},
    {"page size", "tools/observe/page_nodes.hpp", "::sysconf(_SC_PAGESIZE)"},
    {"thread", "core/scheduler/core.hpp", "std::thread> threads_"},
    {"thread", "core/scheduler/core_start.ipp", "std::thread>{std::move(threads_)}"},
    {"thread", "core/observe/watchdog.ipp", "std::thread{"},
    {"thread", "core/executor/blocking.ipp", "std::thread thread{"},
    {"thread", "core/scheduler/timers.ipp", "std::thread{[&it"},
    {"thread", "tools/simulate/streams.ipp", "std::jthread> threads;"},
    {"fork handler", "core/base/env.hpp", "::pthread_atfork("},
    {"futex wait", "core/base/park_word.hpp", "::syscall(SYS_futex, &value_, FUTEX_WAIT_PRIVATE"},
    {"futex wake", "core/base/park_word.hpp", "::syscall(SYS_futex, &value_, FUTEX_WAKE_PRIVATE"},
    {"membarrier register", "core/base/env.hpp", "::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED"},
    {"membarrier", "core/base/env.hpp", "::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED"},
    {"clock", "core/base/env.hpp", "::clock_gettime("},
    {"clock", "core/base/env.hpp", "::clock_gettime("},
    {"clock", "core/base/env.hpp", "::clock_gettime("},
    {"yield", "core/base/env.hpp", "::sched_yield("},
    {"handler stack size", "core/fiber/handler_stack.ipp", "::sysconf(_SC_SIGSTKSZ)"},
    {"handler stack", "core/fiber/handler_stack.ipp", "::sigaltstack(&mine"},
    {"handler stack off", "core/fiber/handler_stack.ipp", "::sigaltstack(&none"},
    {"overflow handler", "core/fiber/overflow_report.ipp", "::sigaction(SIGSEGV, &wanted"},
    {"overflow handler off", "core/fiber/overflow_report.ipp", "::sigaction(SIGSEGV, &ends"},
    {"overflow message", "core/fiber/overflow_report.ipp", "::write("},
    {"affinity read", "core/topology/bind.ipp", "::sched_getaffinity("},
    {"affinity set", "core/topology/bind.ipp", "::sched_setaffinity("},
    {"affinity mask", "core/topology/bind.ipp", "CPU_ALLOC("},
    {"affinity read", "core/base/wake_place.ipp", "::sched_getaffinity(0, "},
    {"affinity read", "core/base/wake_place.ipp", "::sched_getaffinity(thread_, "},
    {"affinity set", "core/base/wake_place.ipp", "::sched_setaffinity(thread_, "},
    {"affinity set", "core/base/wake_place.ipp", "::sched_setaffinity(0, sizeof before_, &before_) == 0"},
    {"affinity set", "core/base/wake_place.ipp", "::sched_setaffinity(0, sizeof before_, &before_);"},
    {"file open", "core/topology/read_file.ipp", "fopen("},
    {"file read", "core/topology/read_file.ipp", "fread("},
    {"file read", "core/topology/read_file.ipp", "ferror("},
    {"hwloc version", "core/topology/hwloc_machine.ipp", "::hwloc_get_api_version("},
    {"hwloc init", "core/topology/hwloc_machine.ipp", "::hwloc_topology_init("},
    {"hwloc load", "core/topology/discover.ipp", "::hwloc_topology_load("},
    {"hwloc this system", "core/topology/discover.ipp", "::hwloc_topology_is_thissystem("},
    {"hwloc bitmap", "core/topology/hwloc_machine.hpp", "::hwloc_bitmap_alloc("},
    {"hwloc cpubind", "core/topology/discover.ipp", "::hwloc_get_cpubind("},
    {"hwloc restrict", "core/topology/discover.ipp", "::hwloc_topology_restrict("},
    {"hwloc included", "core/topology/discover.ipp", "::hwloc_bitmap_isincluded("},
    {"hwloc objects", "core/topology/hwloc_machine.ipp", "::hwloc_get_next_obj_by_type("},
    {"hwloc distances", "core/topology/hwloc_machine.ipp", "::hwloc_distances_get_by_type("},
    {"perf open", "locality/counters/perf_events.ipp", "::syscall(SYS_perf_event_open"},
    {"perf read", "locality/counters/perf_events.ipp", "::read("},
    {"perf close", "locality/counters/perf_events.hpp", "::close("},
    {"perf mmap", "locality/counters/perf_events.ipp", "::mmap(nullptr, page_bytes()"},
    {"perf munmap", "locality/counters/perf_events.ipp", "::munmap("},
    {"processor files", "locality/counters/perf_events.ipp", "std::ifstream file("},
    {"page nodes", "tools/observe/page_nodes.ipp", "::syscall(SYS_move_pages"},
    {"own node", "tools/observe/page_nodes.ipp", "::syscall(SYS_getcpu"},
    {"trace file", "tools/observe/chrome_trace.hpp", "std::ofstream file("},
    {"recording written", "tools/simulate/recorded_file.ipp", "std::ofstream file("},
    {"recording read", "tools/simulate/recorded_file.ipp", "std::ifstream file("},
};

/// Calls that cannot be refused, and why.
struct unfailing_place {
  std::string_view file, code, reason;
};
inline constexpr unfailing_place unfailing_places[] = {
    {"tools/simulate/streams.ipp", "std::chrono::steady_clock", "reads memory that the kernel shares"},
    {"tools/simulate/streams.ipp", "std::chrono::steady_clock", "reads memory that the kernel shares"},
    {"core/base/assert.hpp", "fprintf(", "the program ends next, whatever was printed"},
    {"core/base/assert.hpp", "abort(", "does not return"},
    {"core/scheduler/timers.ipp", "std::thread thread;", "a place for one"},
    {"core/scheduler/timers.ipp", "::pthread_setname_np(", "a name for people: without it the thread has its maker's"},
    {"core/scheduler/timers.ipp", "::pthread_self(", "does not fail"},
    {"core/executor/blocking.ipp", "::pthread_setname_np(", "as above"},
    {"core/executor/blocking.ipp", "::pthread_self(", "does not fail"},
    {"core/observe/watchdog.ipp", "::pthread_setname_np(", "as above"},
    {"core/observe/watchdog.ipp", "::pthread_self(", "does not fail"},
    {"parallel/primitives/lock_owner.ipp", "::pthread_getattr_np(", "without an answer a mistake of the program is not told"},
    {"parallel/primitives/lock_owner.ipp", "::pthread_self(", "does not fail"},
    {"parallel/primitives/mutex.ipp", "::pthread_self(", "does not fail"},
    {"parallel/primitives/lock_owner.ipp", "::pthread_attr_getstack(", "as above"},
    {"parallel/primitives/lock_owner.ipp", "::pthread_attr_destroy(", "does not fail"},
    {"parallel/primitives/condition_variable.hpp", "std::chrono::steady_clock", "reads memory that the kernel shares"},
    {"parallel/primitives/condition_variable.hpp", "std::chrono::steady_clock", "reads memory that the kernel shares"},
    {"core/base/env.hpp", "::getpid(", "does not fail"},
    {"core/base/env.hpp", "::syscall(SYS_gettid", "does not fail"},
    {"core/base/wake_place.ipp", "::sched_getcpu();", "where it is not known, nothing is noted"},
    {"core/base/wake_place.ipp", "::sched_getcpu() == waker_", "as above"},
    {"core/base/env.hpp", "::nanosleep(", "interrupted it is a shorter nap, of many"},
    {"graph/warnings.ipp", "fprintf(", "a hint in debug builds: the run goes on, whatever was printed"},
    {"core/base/vector.ipp", "::operator delete(", "frees"},
    {"core/base/vector.ipp", "::operator delete(", "frees"},
    {"core/base/large_memory.ipp", "::operator delete(", "frees"},
    {"core/base/large_memory.ipp", "::operator delete(", "frees"},
    {"core/base/large_memory.ipp", "::madvise(", "advice: pages stay small where it is not followed"},
    {"core/memory/block_pool.ipp", "::operator delete(", "frees"},
    {"core/memory/block_pool.ipp", "::operator delete(", "frees"},
    {"locality/region/frame_array.hpp", "::operator delete(", "frees"},
    {"locality/region/frame_array.hpp", "std::nothrow", "the same place: null where there is no memory"},
    {"core/executor/pooled.hpp", "::operator delete(", "frees"},
    {"parallel/coroutine/coroutine.hpp", "operator new(", "calls the next"},
    {"core/executor/pooled.ipp", "::operator delete(", "frees"},
    {"tools/observe/trace_report.ipp", "::localtime_r(", "a date for people: where there is none it is empty or wrong"},
    {"tools/observe/event_clock.hpp", "std::chrono::steady_clock", "reads memory that the kernel shares"},
    {"core/executor/blocking.ipp", "::pthread_setcancelstate(", "refuses unknown states only"},
    {"core/executor/async.hpp", "::operator delete(", "frees"},
    {"core/executor/async.hpp", "::operator delete(", "frees"},
    {"core/fiber/current.hpp", "::sigaltstack(nullptr", "only asks"},
    {"core/fiber/overflow_report.ipp", "::sigemptyset(", "clears a local variable"},
    {"core/sync/unobserved.ipp", "fprintf(stderr", "the last word about an exception: there is nobody else to tell"},
    {"core/sync/unobserved.ipp", "fprintf(stderr", "the last word about an exception: there is nobody else to tell"},
    {"core/sync/unobserved.ipp", "fprintf(stderr", "the last word about an exception: there is nobody else to tell"},
    {"core/sync/unobserved.ipp", "fprintf(stderr", "the last word about an exception: there is nobody else to tell"},
    {"core/scheduler/reduced_start.ipp", "fprintf(stderr", "for people: nothing depends on what was printed"},
    {"core/observe/watchdog.ipp", "fprintf(stderr", "for people: nothing depends on what was printed"},
    {"core/observe/watchdog.ipp", "fprintf(stderr", "for people: nothing depends on what was printed"},
    {"core/observe/watchdog.ipp", "std::thread thread;", "starts nothing"},
    {"core/memory/outside_blocks.ipp", "::operator delete(std::exchange(b,", "frees"},
    {"core/topology/discover.ipp", "getenv(variable);", "reads memory"},
    {"core/topology/discover.ipp", "getenv(variable) != nullptr", "reads memory"},
    {"graph/warnings.ipp", "fprintf(", "for people: nothing depends on what was printed"},
    {"graph/warnings.ipp", "fprintf(", "for people: nothing depends on what was printed"},
    {"core/base/environment.ipp", "getenv(environment_variables", "reads memory"},
    {"core/scheduler/core_start.ipp", "fputs(", "for people: nothing depends on what was printed"},
    {"core/scheduler/configuration.ipp", "fputs(configuration_text()", "for people: nothing depends on what was printed"},
    {"core/topology/discover.ipp", "::hwloc_topology_set_xml(", "a file that cannot be read is told on stderr, and this machine used"},
    {"core/topology/discover.ipp", "::hwloc_topology_set_synthetic(", "a text that means nothing is told on stderr, and this machine used"},
    {"core/base/environment.ipp", "fprintf(stderr", "for people: nothing depends on what was printed"},
    {"core/base/environment.ipp", "fprintf(stderr", "for people: nothing depends on what was printed"},
    {"tools/observe/environment_writer.ipp", "::sigemptyset(", "of a set that exists"},
    {"tools/observe/environment_writer.ipp", "::sigaddset(", "of a set and a signal that exist"},
    {"tools/observe/environment_writer.ipp", "::sigpending(", "nothing is pending then"},
    {"tools/observe/environment_writer.ipp", "::sigismember(", "of a set and a signal that exist"},
    {"tools/observe/environment_writer.ipp", "::pthread_sigmask(SIG_B", "of arguments that are valid"},
    {"tools/observe/environment_writer.ipp", "::sigtimedwait(", "then there is no signal to take"},
    {"tools/observe/environment_writer.ipp", "::pthread_sigmask(SIG_S", "of arguments that are valid"},
    {"tools/observe/environment_writer.ipp", "::stat(name", "a name of which nothing is known is opened as a file"},
    {"tools/observe/environment_writer.ipp", "::open(name", "a pipe that cannot be opened is told on stderr"},
    {"tools/observe/environment_writer.ipp", "::close(pipe)", "of a pipe that was opened, and is open a second time"},
    {"tools/observe/environment_writer.ipp", "::getcwd(directory", "without it the name stays relative"},
    {"core/observe/environment_trace.ipp", "fprintf(stderr,", "for people: nothing depends on what was printed"},
    {"core/observe/environment_trace.ipp", "fprintf(stderr,", "for people: nothing depends on what was printed"},
    {"tools/observe/environment_writer.ipp", "fprintf(stderr,", "for people: nothing depends on what was printed"},
    {"tools/observe/environment_writer.ipp", "fprintf(stderr,", "for people: nothing depends on what was printed"},
    {"tools/observe/environment_writer.ipp", "std::ofstream file{name, std::ios", "a file that cannot be written is told on stderr"},
    {"tools/observe/task_edges.hpp", "std::mutex", "never waits where it could deadlock; other errors do not exist"},
    {"core/executor/timed_wait.hpp", "std::chrono::steady_clock::now()", "reads a clock"},
    {"core/fiber/overflow_report.ipp", "::dladdr(", "looks at what is loaded"},
    {"core/fiber/overflow_report.ipp", "::dlopen(", "loads nothing: of the main program it says no, which needs none"},
    {"core/fiber/overflow_report.ipp", "abort(", "does not return"},
    {"locality/squads/squad_extension.ipp", "::pthread_self()", "does not fail"},
    {"core/topology/bind.ipp", "CPU_FREE(", "frees"},
    {"core/topology/hwloc_machine.ipp", "::hwloc_topology_destroy(", "frees"},
    {"core/topology/hwloc_machine.hpp", "::hwloc_bitmap_free(", "frees"},
    {"core/topology/hwloc_machine.ipp", "::hwloc_distances_release(", "frees"},
    {"core/topology/discover.ipp", "::hwloc_topology_get_topology_cpuset(", "reads a loaded topology"},
    {"core/topology/read_file.ipp", "fclose(", "the file was only read"},
};
// clang-format on

/// The number of a site; a name that is not in the list does not compile.
consteval std::size_t site_of(std::string_view name) {
  std::size_t i = 0;
  while (site_places[i].site != name) ++i;
  return i;
}
inline constexpr std::size_t site_limit = std::size(site_places);

/// Where this process and its children count. In memory that they share.
struct fault_board {
  struct counts {
    std::atomic<unsigned long> reached{0}, injected{0};
  };
  counts of[site_limit]{};
  std::atomic<unsigned long> hangs{0}, leaks{0}, crashes{0}, skips{0};
  pid_t owner = 0;
};

/// The system's own function, which one of the same name in this program stands before.
template <class Function>
HEIST_NO_TSAN Function* real(char const* name) noexcept {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// The same, found once; without the guard of a static variable, as the sanitizers' runtimes call these functions
/// before they can be told of guards.
template <class Function>
struct next_function {
  char const* name;
  Function* found = nullptr;

  HEIST_NO_TSAN operator Function*() noexcept {
    Function* f = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (f == nullptr) __atomic_store_n(&found, f = real<Function>(name), __ATOMIC_RELAXED);
    return f;
  }
};

namespace detail {

inline void report_faults() noexcept;

struct shared_board {
  shared_board() noexcept {
    static auto* const map = real<void*(void*, std::size_t, int, int, int, off_t)>("mmap");
    void* const at = map(nullptr, sizeof(fault_board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) std::abort();
    board = ::new (at) fault_board;
    board->owner = ::getpid();
  }
  fault_board* board;
};

/// The refusals planned for a site, in this process.
struct plan {
  std::atomic<long> first{0};     ///< the call that fails, from 1 on; 0: none
  std::atomic<long> in_a_row{1};  ///< and so many behind it
  std::atomic<long> one_in{0};    ///< or one of so many, always the same ones; 0: none
  std::atomic<long> calls{0}, failed{0};
};
inline constinit plan plans[site_limit];

}  // namespace detail

inline fault_board& board() noexcept {
  static detail::shared_board const shared;
  return *shared.board;
}

/// The function that stands before the system calls this at each call. Returns whether the call must fail.
inline bool must_fail(std::size_t site) noexcept {
  auto& counts = board().of[site];
  counts.reached.fetch_add(1, std::memory_order_relaxed);
  auto& p = detail::plans[site];
  long const first = p.first.load(std::memory_order_relaxed), one_in = p.one_in.load(std::memory_order_relaxed);
  if (first == 0 && one_in == 0) return false;
  long const n = p.calls.fetch_add(1, std::memory_order_relaxed) + 1;
  bool const fails = (first != 0 && n >= first && n - first < p.in_a_row.load(std::memory_order_relaxed)) ||
                     (one_in != 0 && static_cast<long>((static_cast<unsigned long>(n) * 2654435761ul >> 7) %
                                                       static_cast<unsigned long>(one_in)) == 0);
  if (fails) {
    p.failed.fetch_add(1, std::memory_order_relaxed);
    counts.injected.fetch_add(1, std::memory_order_relaxed);
  }
  return fails;
}

inline constexpr long forever = 1L << 40;

/// While it lives, calls of a site fail: the `first`, from 1 on, and `in_a_row` together. One for a site at a time.
class fault {
 public:
  fault(std::size_t site, long first, long in_a_row = 1) noexcept : plan_{detail::plans[site]} {
    begin(first, in_a_row, 0);
  }
  /// One of so many calls fails, always the same ones.
  struct one_in {
    long calls;
  };
  fault(std::size_t site, one_in n) noexcept : plan_{detail::plans[site]} { begin(0, 0, n.calls); }
  fault(fault const&) = delete;
  fault& operator=(fault const&) = delete;
  ~fault() { stop(); }

  void stop() noexcept { plan_.first = 0, plan_.one_in = 0; }
  long failed() const noexcept { return plan_.failed; }
  long calls() const noexcept { return plan_.calls; }

 private:
  void begin(long first, long in_a_row, long one_in) noexcept {
    plan_.calls = 0, plan_.failed = 0, plan_.in_a_row = in_a_row;
    plan_.one_in = one_in, plan_.first = first;
  }
  detail::plan& plan_;
};

/// Says that something was not tested here.
inline void skipped(std::string const& reason) {
  ++board().skips;
  std::printf("skipped: %s\n", reason.c_str());
  std::fflush(stdout);
}

namespace detail {

/// Prints a line for each site that was reached, and a line of sums. For report.py, the same goes as a line of JSON to
/// the end of the file that HEIST_FAULTS_REPORT names.
inline void report_faults() noexcept {
  auto& b = board();
  char const* const program = program_invocation_short_name;
  std::string sites;
  for (std::size_t i = 0; i != site_limit; ++i) {
    unsigned long const reached = b.of[i].reached, injected = b.of[i].injected;
    if (reached == 0) continue;
    auto const name = std::string{site_places[i].site};
    std::printf("faults %s site %s reached %lu injected %lu\n", program, name.c_str(), reached, injected);
    sites += (sites.empty() ? "\"" : ", \"") + name + "\": [" + std::to_string(reached) + ", " +
             std::to_string(injected) + "]";
  }
  std::printf("faults %s hangs %lu leaks %lu crashes %lu skipped %lu\n", program, b.hangs.load(), b.leaks.load(),
              b.crashes.load(), b.skips.load());
  std::fflush(stdout);
  char const* const path = std::getenv("HEIST_FAULTS_REPORT");
  if (path == nullptr) return;
  auto const line = "{\"program\": \"" + std::string{program} + "\", \"sites\": {" + sites +
                    "}, \"hangs\": " + std::to_string(b.hangs) + ", \"leaks\": " + std::to_string(b.leaks) +
                    ", \"crashes\": " + std::to_string(b.crashes) + ", \"skipped\": " + std::to_string(b.skips) +
                    ", \"sanitized\": " + (heist::under_asan || heist::under_tsan ? "true" : "false") + "}\n";
  if (std::FILE* const file = std::fopen(path, "ae")) {
    std::fwrite(line.data(), 1, line.size(), file);  // in one piece: programs run side by side
    std::fclose(file);
  } else {
    std::fprintf(stderr, "cannot write %s\n", path);
  }
}

/// Reports when the program ends; not in its children.
struct reporter_at_exit {
  reporter_at_exit() noexcept { static_cast<void>(board()); }
  ~reporter_at_exit() {
    if (board().owner == ::getpid()) report_faults();
  }
};
inline reporter_at_exit const reports_at_exit;

}  // namespace detail
}  // namespace heist_test
