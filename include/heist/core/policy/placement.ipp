// Bodies of placement.hpp.
#pragma once

#include "heist/core/policy/placement.hpp"

#include "heist/core/base/environment.hpp"
#include "heist/core/topology/bind.hpp"
#include "heist/core/topology/cpu_quota.hpp"

namespace heist::detail {

HEIST_COLD_BODY bool pinned(options const& wanted) noexcept {
  return wanted.pin == pinning::pus || (wanted.pin == pinning::automatic && is_set_to(variable::pin, "pus", "none"));
}

HEIST_COLD_BODY placement::placement(options const& wanted, bool needs_squads)
    : later_{!needs_squads && !wanted.machine && wanted.squads == squad_by::automatic && wanted.squad_pus.empty() &&
             !pinned(wanted) && (wanted.workers != 0 || topology::has_allowed_cpus())} {
  if (later_) return;
  machine_ = wanted.machine ? *wanted.machine : topology::this_machine();
}

HEIST_COLD_BODY void placement::place(options const& wanted, std::size_t workers) {
  workers_ = workers;
  if (later_) return;
  squads_ = wanted.squad_pus.empty() ? topology::make_squads(machine_, wanted.squads, workers)
                                     : topology::make_squads(machine_, wanted.squad_pus, workers);
  known_.store(true, std::memory_order_release);  // release: pairs with know()
}

HEIST_COLD_BODY std::size_t placement::usable_workers() const {
  std::size_t const wanted = size_in_environment(variable::workers, std::size_t{1} << 20, 0);
  if (wanted != 0) return wanted;
  if (later_) return topology::usable_cpus(topology::allowed_cpus().size());
  return machine_.is_this_machine ? topology::usable_cpus(machine_) : machine_.pu_count();
}

HEIST_COLD_BODY topology::machine const& placement::machine() const {
  if (later_) know();
  return machine_;
}

HEIST_COLD_BODY topology::squads const& placement::squads() const {
  know();
  return squads_;
}

HEIST_COLD_BODY void placement::know() const {
  if (known_.load(std::memory_order_acquire)) return;  // acquire: the results of place() or of another thread
  spin_guard guard{lock_};
  if (known_.load(std::memory_order_relaxed)) return;  // relaxed: under the lock
  machine_ = topology::this_machine();
  squads_ = topology::make_squads(machine_, squad_by::automatic, workers_);
  known_.store(true, std::memory_order_release);  // release: as above
}

}  // namespace heist::detail
