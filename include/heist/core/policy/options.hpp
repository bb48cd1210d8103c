// The options of an executor.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <optional>
#include <vector>

#include "heist/core/policy/thread_permits.hpp"
#include "heist/core/policy/worker_hook.hpp"
#include "heist/core/topology/machine.hpp"
#include "heist/core/topology/squads.hpp"

namespace heist {

/// Whether worker threads are bound to processing units.
enum class pinning {
  automatic,  ///< as the environment variable HEIST_PIN says (`pus` or `none`); none without it
  none,       ///< the operating system places them; right when the machine is shared
  pus         ///< one processing unit each, where the machine is the real one; right when this process owns the machine
};

/// Options of an executor, all with defaults. `options{}` makes one worker for each CPU that this process may use.
/// Environment variables set the options that are left open (docs/environment.md).
struct options {
  /// The number of workers. 0: HEIST_WORKERS, or one for each CPU that the affinity mask and the cgroup quota allow.
  std::size_t workers = 0;
  /// The machine; by default the one in HEIST_TOPOLOGY, or the real one. topology::parse describes another one.
  std::optional<topology::machine> machine = std::nullopt;
  /// The level of the machine whose workers form a squad.
  squad_by squads = squad_by::automatic;
  /// Squads by hand, as lists of PUs; overrides `squads` when not empty.
  std::vector<std::vector<std::uint32_t>> squad_pus = {};
  /// Whether threads are bound to PUs.
  pinning pin = pinning::automatic;
  /// Bytes of each fiber's stack, on which tasks run. Pages use memory once touched. 0: HEIST_STACK_SIZE, or 1 MiB.
  std::size_t stack_size = 0;
  /// The largest number of fibers, at least one for each worker. Each waiting task needs one; under child-first order
  /// each level of forks on each worker needs one, which the worker keeps. The executor keeps their addresses until
  /// it is destroyed, and returns their memory (docs/performance.md, "Memory"). If one more is needed, a fork and a
  /// wait for a future or a run throw stack_error. A join, invoke() and algorithms continue without one. 0:
  /// HEIST_MAX_FIBERS, or 30,000.
  std::size_t max_fibers = 0;
  /// The largest number of threads: one for each worker, and more for calls that block (context::blocking). The
  /// executor makes these when it needs them, and keeps them. At the limit such a call blocks its worker.
  std::size_t max_threads = 256;
  /// A number of threads that this executor shares with others (`heist::thread_limit`, heist/thread_limit.hpp); null: it shares none. The policy's
  /// joins must park (join::park).
  detail::permits_of limit = nullptr;
  /// The last worker is a thread outside, while that calls run_here(). No thread is started for it: the others do all
  /// work while nobody calls. For programs whose main thread starts work and takes part in it. heist::with cannot name
  /// this worker. The option has no effect for one worker, with an observer, and under a policy that has tiers or
  /// recordings, or whose joins keep their workers.
  bool caller_is_worker = false;
  /// Each thread calls them with the number of its first worker: before it carries that worker, and when it ends. Use
  /// them to name the thread or to set up libraries (docs/inherited.md). They must not throw. During the calls the
  /// thread is outside of the executor. It may submit at its start, not at its end, and must not wait for the task.
  worker_hook on_worker_start = nullptr;
  worker_hook on_worker_stop = nullptr;
  /// Whether each stack has guard memory below it. If a frame does not fit, the guard ends the program with a
  /// message. A stack without a guard overflows into other memory.
  bool guard_pages = true;
  /// The size of the guard in bytes. It takes addresses, no memory. A larger frame may jump over it, unless the
  /// program is compiled with -fstack-clash-protection (GCC and clang), which touches large frames page by page. On
  /// kernels before Linux 6.13 it is a second mapping for each fiber (vm.max_map_count).
  std::size_t guard_size = std::size_t{256} << 10;
};

}  // namespace heist
