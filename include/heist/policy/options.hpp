// What an executor is asked to be.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <optional>
#include <vector>

#include "heist/policy/worker_hook.hpp"
#include "heist/topology/machine.hpp"
#include "heist/topology/squads.hpp"

namespace heist {

/// Are worker threads bound to processing units?
enum class pinning {
  none,  ///< the operating system places them; right when the machine is shared
  pus    ///< one processing unit each, where the machine is the real one; right when this process owns the machine
};

/// Everything has a default: `options{}` uses as many workers as this process may use CPUs.
struct options {
  /// How many workers; 0: one for each CPU that the affinity mask and the cgroup quota allow.
  std::size_t workers = 0;
  /// The machine to run on, or to pretend (topology::parse); by default the real one.
  std::optional<topology::machine> machine = std::nullopt;
  /// Which workers share a squad.
  squad_by squads = squad_by::automatic;
  /// Squads by hand, as lists of PUs; overrides `squads` when not empty.
  std::vector<std::vector<std::uint32_t>> squad_pus = {};
  /// Bind threads to PUs?
  pinning pin = pinning::none;
  /// Bytes of each fiber's stack, on which tasks run; memory is used as it is touched.
  std::size_t stack_size = std::size_t{1} << 20;
  /// How many fibers there may be at a time, at least one for each worker: one for each task that waits, and under
  /// child-first order one for each level of forks on each worker, which keeps those that it has had. The executor keeps
  /// their addresses to its end, and gives back their memory (docs/performance.md, "Memory"). Where one more is
  /// needed, a fork and a wait for a future or a run throw stack_error; a join, sync_wait() and algorithms go on without.
  std::size_t max_fibers = 30'000;
  /// How many threads there may be, workers' included: one for each worker, others for calls that block
  /// (context::blocking), made when they are needed and kept. Where there are no more such a call blocks its worker.
  std::size_t max_threads = 256;
  /// Called by each thread before it carries its first worker, and when it ends, with that worker's number: to name the
  /// thread, to set up libraries. They must not throw. The thread is outside of the executor then: it may submit at its
  /// start, not at its end, and must not wait for what it submits.
  worker_hook on_worker_start = nullptr;
  worker_hook on_worker_stop = nullptr;
  /// Memory below each stack that stops the program, with a message, when a frame does not fit. Without it an overflow
  /// overwrites other memory.
  bool guard_pages = true;
  /// How much of it, in bytes: it takes addresses only, no memory. A frame that is larger may jump over it, unless the
  /// program is compiled with -fstack-clash-protection (GCC and clang), which touches large frames page by page. On
  /// kernels before Linux 6.13 it is a second mapping for each fiber (vm.max_map_count).
  std::size_t guard_size = std::size_t{256} << 10;
};

}  // namespace heist
