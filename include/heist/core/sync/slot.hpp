// Which thread has a sleeping worker: its own, the host, or a helper (core/executor/README.md, "Helpers").
#pragma once

#include <atomic>
#include <cstdint>

#include "heist/core/base/assert.hpp"
#include "heist/core/base/env.hpp"

namespace heist::detail {

// Edges
//   E1  lend, give_back: store(release) -> borrow: CAS(acquire)   the worker as it was left
//   E2  give_back: store(release)       -> keep, take_back: CAS(acquire)   what the helper did
// lend() also releases to the host's own keep(), which needs nothing of it.

/// The host lends it before it sleeps, and has it again when keep() or take_back() says so. A helper has it from borrow()
/// to give_back(). It borrows only the slot of a sleeper that the gate has lent (idle_gate::lend), which nobody wakes.
///
/// Threads  lend, keep, take_back by the host; borrow by any other, give_back by the helper.
/// Cost     a store, or a compare-and-swap
template <class Env = os_env>
class basic_slot {
 public:
  void lend() noexcept { state_.store(lendable, std::memory_order_release); }  // E1

  /// True if the host has it: no helper may borrow it.
  [[nodiscard]] bool keep() noexcept {
    std::uint32_t now = state_.load(std::memory_order_relaxed);  // relaxed: the exchange decides
    if (now == kept) return true;
    return now == lendable && state_.compare_exchange_strong(now, kept, std::memory_order_acquire,
                                                             std::memory_order_relaxed);  // E2; relaxed: no
  }
  /// The host has been woken.
  void take_back() noexcept {
    bool const has = keep();
    HEIST_ASSERT(has, "a worker is woken while a helper carries it");
    static_cast<void>(has);
  }

  /// True if the caller, a helper, has it now.
  [[nodiscard]] bool borrow() noexcept {
    std::uint32_t now = lendable;
    return state_.compare_exchange_strong(now, lent, std::memory_order_acquire,
                                          std::memory_order_relaxed);  // E1; relaxed: no
  }
  void give_back() noexcept { state_.store(lendable, std::memory_order_release); }  // E1, E2

 private:
  static constexpr std::uint32_t kept = 0, lendable = 1, lent = 2;

  typename Env::template atomic<std::uint32_t> state_{kept};
};

}  // namespace heist::detail
