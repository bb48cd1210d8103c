// The loops that workers which search may help with.
#pragma once

#include <atomic>

#include "heist/base/config.hpp"
#include "heist/base/env.hpp"

namespace heist::detail {

struct open_loop;

/// All loops that one worker, or the threads outside, have had: one for each that runs at the same time. They are used again
/// by later loops and freed with the executor, so a worker may look at them at any time.
///
/// Threads  any.
class open_loops {
 public:
  open_loops() = default;
  open_loops(open_loops const&) = delete;
  open_loops& operator=(open_loops const&) = delete;
  ~open_loops();

  /// One that nobody uses, for the caller; null: there is none.
  open_loop* claim() noexcept;
  /// One that the calling worker has entered and is to run; null: there is none. Almost always there has been none at all.
  open_loop* enter() noexcept {
    // acquire: pairs with add()
    open_loop* const first = first_.load(std::memory_order_acquire);
    return first == nullptr ? nullptr : enter_one(*first);
  }
  /// Would enter() find one? A hint.
  bool may_enter() const noexcept;
  void add(open_loop& l) noexcept;

 private:
  static open_loop* enter_one(open_loop& first) noexcept;

  os_env::atomic<open_loop*> first_{nullptr};
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/sched/open_loops.ipp"
#endif
