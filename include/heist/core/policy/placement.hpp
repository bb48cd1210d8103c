// The places of an executor's workers: the machine and its squads.
#pragma once

#include <cstddef>  // size_t

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/core/policy/options.hpp"
#include "heist/core/topology/discover.hpp"
#include "heist/core/topology/squads.hpp"

namespace heist::detail {

/// Are threads to be bound, by the options or by HEIST_PIN?
bool pinned(options const& wanted) noexcept;

/// To look at the real machine takes 4 to 25 ms and most of a mebibyte. So this waits for the first caller that needs
/// it. Squads, pinned threads and some policies need it at once.
///
/// Threads  any.
class placement {
 public:
  placement(options const& wanted, bool needs_squads);

  /// The constructor's second half, when the number of workers is known. Throws topology_error.
  void place(options const& wanted, std::size_t workers);
  /// The number of workers where the options leave it open: HEIST_WORKERS, or the CPUs that this process may use, or the PUs
  /// of a described machine.
  std::size_t usable_workers() const;
  topology::machine const& machine() const;
  topology::squads const& squads() const;

 private:
  HEIST_RARE void know() const;

  bool const later_;
  std::size_t workers_ = 0;
  mutable os_env::atomic<bool> known_{false};
  mutable spin_lock<> lock_;
  mutable topology::machine machine_;
  mutable topology::squads squads_;
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/policy/placement.ipp"
#endif
