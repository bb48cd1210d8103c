// Which thread has a sleeping worker: its own, the host, or a helper (core/executor/README.md, "Helpers").
#pragma once

#include <atomic>
#include <cstdint>

#include "heist/core/base/env.hpp"

namespace heist::detail {

// Edges
//   E1  lend, give_back: store, CAS(release) -> borrow: CAS(acquire)            the worker as it was left
//   E2  give_back: store, CAS(release)       -> keep, take_back: load, CAS (acquire)   what the helper did
// lend() also releases to the host's own keep(), which needs nothing of it.

/// The host lends it before it sleeps, and has it again when keep() or take_back() says so. A helper has it from borrow()
/// to give_back().
///
/// Threads  lend, keep, take_back by the host; borrow by any other, give_back by the helper.
/// Cost     a store, or a compare-and-swap. take_back() sleeps while a helper has it.
template <class Env = os_env>
class basic_slot {
 public:
  void lend() noexcept { state_.store(lendable, std::memory_order_release); }  // E1

  /// True if the host has it: no helper may borrow it.
  [[nodiscard]] bool keep() noexcept {
    std::uint32_t now = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    if (now == kept) return true;
    return now == lendable && state_.compare_exchange(now, kept, std::memory_order_acquire);  // E2
  }

  /// Returns when the host has it. `pass_on()` is called before it waits for a helper: the work that the host was woken
  /// for is another worker's then.
  template <class PassOn>
  void take_back(PassOn&& pass_on) noexcept {
    for (;;) {
      if (keep()) return;
      std::uint32_t now = lent;
      if (state_.compare_exchange(now, wanted, std::memory_order_relaxed)) break;  // relaxed: no data goes along
    }
    pass_on();
    while (state_.load(std::memory_order_acquire) == wanted) state_.wait(wanted);  // E2
  }

  /// True if the caller, a helper, has it now.
  [[nodiscard]] bool borrow() noexcept {
    std::uint32_t now = lendable;
    return state_.compare_exchange(now, lent, std::memory_order_acquire);  // E1
  }

  void give_back() noexcept {
    std::uint32_t now = lent;
    if (state_.compare_exchange(now, lendable, std::memory_order_release)) return;  // E1, E2
    state_.store(kept, std::memory_order_release);                                  // E2
    state_.wake_one();
  }

 private:
  static constexpr std::uint32_t kept = 0, lendable = 1, lent = 2, wanted = 3;

  typename Env::park_word state_;
};

}  // namespace heist::detail
