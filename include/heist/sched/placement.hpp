// Where the workers of an executor stand: the machine and its squads.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <utility>  // move

#include "heist/base/config.hpp"
#include "heist/base/env.hpp"
#include "heist/sched/options.hpp"
#include "heist/sync/spin_lock.hpp"
#include "heist/topology/discover.hpp"
#include "heist/topology/squads.hpp"

namespace heist::detail {

/// To look at the real machine takes milliseconds and most of a mebibyte. Where nothing depends on it (workers are
/// counted by hand, squads are the default and no policy needs them, threads are not pinned) that is done when somebody
/// asks.
///
/// Threads  any.
class placement {
 public:
  placement(options const& wanted, bool needs_squads)
      : later_{!needs_squads && wanted.workers != 0 && !wanted.machine && wanted.squads == squad_by::automatic &&
               wanted.squad_pus.empty() && wanted.pin == pinning::none} {
    if (later_) return;
    machine_ = wanted.machine ? *wanted.machine : topology::this_machine();
  }

  /// The constructor's second half, when the number of workers is known. Throws topology_error.
  void place(options const& wanted, std::size_t workers) {
    workers_ = workers;
    if (later_) return;
    squads_ = wanted.squad_pus.empty() ? topology::make_squads(machine_, wanted.squads, workers)
                                       : topology::make_squads(machine_, wanted.squad_pus, workers);
    known_.store(true, std::memory_order_release);  // release: pairs with know()
  }

  topology::machine const& machine() const {
    if (later_) know();
    return machine_;
  }
  topology::squads const& squads() const {
    know();
    return squads_;
  }

 private:
  HEIST_COLD void know() const {
    if (known_.load(std::memory_order_acquire)) return;  // acquire: what place() or somebody else found out
    spin_guard guard{lock_};
    if (known_.load(std::memory_order_relaxed)) return;  // relaxed: under the lock
    machine_ = topology::this_machine();
    squads_ = topology::make_squads(machine_, squad_by::automatic, workers_);
    known_.store(true, std::memory_order_release);  // release: as above
  }

  bool const later_;
  std::size_t workers_ = 0;
  mutable os_env::atomic<bool> known_{false};
  mutable spin_lock<> lock_;
  mutable topology::machine machine_;
  mutable topology::squads squads_;
};

}  // namespace heist::detail
