// Messages about a policy that breaks a promise, for templates that do not make texts themselves.
#pragma once

#include <cstdint>
#include <string>

#include "heist/core/base/config.hpp"
#include "heist/tools/simulate/duration.hpp"

namespace heist::sim::detail {

/// next() has named a worker that does not exist.
HEIST_RARE std::string names_no_worker(std::uint32_t named, std::uint32_t workers);
/// next() has not named a worker that has work, in so many attempts.
HEIST_RARE std::string neglects_worker(std::uint32_t neglected, std::uint64_t attempts, std::uint32_t thief);
/// Throws sim_error: all workers sleep, but there is work.
[[noreturn]] HEIST_RARE void reject_endless_sleep(ticks now);

}  // namespace heist::sim::detail

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/broken_promise.ipp"
#endif
