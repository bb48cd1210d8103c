// Memory that an executor gives back while it is idle (README.md, "Memory"). Bodies of core.
#pragma once

#include "heist/core/base/config.hpp"
#include "heist/core/base/large_memory.hpp"
#include "heist/core/scheduler/core.hpp"

namespace heist::detail {

template <class Still>
HEIST_COLD void core::trim(Still still, bool again) noexcept {
  freelist.trim(still);
  while (!again && still() && large_memory::release_one()) {
  }
  auto const trim_chains = [&](os_env::atomic<fiber*>& used, os_env::atomic<fiber*>& trimmed) {
    while (still()) {
      fiber* first = nullptr;
      {
        spin_guard guard{lock_};
        first = take_chain(used);
        trims_list_ = first != nullptr;
      }
      if (first == nullptr) return;
      fiber* f = first;
      while (f != nullptr && still()) {
        f->give_memory_back();
        f = f->next_cached;
      }
      spin_guard guard{lock_};
      put_chain(f == nullptr ? trimmed : used, *first);
      trims_list_ = false;
    }
  };
  trim_chains(unused_chains_, trimmed_unused_chains_);
  trim_chains(cached_chains_, trimmed_cached_chains_);
}

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/core/scheduler/core_trim.ipp"
#endif
