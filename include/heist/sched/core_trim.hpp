// Memory that an executor gives back while it is idle (README.md, "Memory"). Bodies of core.
#pragma once

#include "heist/sched/core.hpp"
#include "heist/sched/core_fibers.hpp"

namespace heist::detail {

inline bool core::begin_trim() noexcept {
  // relaxed: hints
  if (used_chains_.load(std::memory_order_relaxed) <= worker_count && !depot.has_too_much()) return false;
  if (somebody_trims_.load(std::memory_order_relaxed)) return false;  // relaxed: as above
  return !somebody_trims_.exchange(true, std::memory_order_relaxed);  // relaxed: a claim, no data
}

inline void core::end_trim() noexcept {
  somebody_trims_.store(false, std::memory_order_relaxed);  // relaxed: as above
}

template <class Still>
HEIST_COLD void core::trim(Still still) noexcept {
  depot.trim(still);
  auto const trim_chains = [&](os_env::atomic<fiber*>& used, os_env::atomic<fiber*>& trimmed) {
    while (still()) {
      fiber* first = nullptr;
      {
        spin_guard guard{lock_};
        first = take_chain(used);
        trims_chain_ = first != nullptr;
      }
      if (first == nullptr) return;
      fiber* f = first;
      while (f != nullptr && still()) {
        f->give_memory_back();
        f = f->next_spare;
      }
      spin_guard guard{lock_};
      put_chain(f == nullptr ? trimmed : used, *first);
      trims_chain_ = false;
    }
  };
  trim_chains(fresh_chains_, trimmed_fresh_chains_);
  trim_chains(spare_chains_, trimmed_spare_chains_);
}

}  // namespace heist::detail
