// The awake and sleeping workers: the counts and the rules of core/sync/idle_gate.hpp. Every step takes effect at one
// moment.
#pragma once

#include <algorithm>  // find
#include <cstddef>    // size_t
#include <cstdint>
#include <vector>

#include "heist/core/policy/idle.hpp"

namespace heist::sim {

/// The constants of an idle policy as values.
struct idle_config {
  bool never_sleeps, keeps_a_thief, wakes_on_push;
  std::uint32_t helpers;

  template <idle::idle_policy Idle>
  static constexpr idle_config of() noexcept {
    return {Idle::never_sleeps, Idle::keeps_a_thief, Idle::wakes_on_push, Idle::helpers};
  }
};

/// One gate for each squad where the policy has tiers, otherwise one for all. `Wake(worker)` is called for each sleeper
/// that is notified; the youngest first, as event_count does it.
template <class Wake>
class gates {
 public:
  gates(std::size_t count, idle_config config, Wake wake) : gates_(count), config_{config}, wake_{wake} {}

  void set_active(std::uint32_t g) {
    if (!config_.keeps_a_thief || active_count_++ != 0) return;
    for (std::uint32_t i = 0; i != gates_.size(); ++i)
      if (gates_[after(g, i)].thieves == 0) notify_one(after(g, i));
  }
  void set_inactive() noexcept {
    if (config_.keeps_a_thief) --active_count_;
  }

  void start_stealing(std::uint32_t g) noexcept { ++gates_[g].thieves; }
  template <class Look>
  void found_work(std::uint32_t g, Look&& any_work, bool notified) {
    bool const last = --gates_[g].thieves == 0;
    if (!last && !(notified && config_.wakes_on_push)) return;
    if (config_.keeps_a_thief) {
      notify_one(g);
    } else if (config_.wakes_on_push && any_sleeps() && any_work()) {
      notify_any(g);
      if (notified && any_sleeps()) notify_any(g);
    }
  }

  /// An item that every worker may take was pushed.
  void pushed(std::uint32_t g) {
    if (config_.wakes_on_push && any_sleeps() && no_thieves()) notify_any(g);
  }
  /// Something for the workers of this gate alone.
  void pushed_here(std::uint32_t g) {
    if (config_.wakes_on_push && gates_[g].thieves == 0) notify_one(g);
  }
  void submitted_here(std::uint32_t g) {
    if (config_.wakes_on_push) {
      pushed_here(g);
    } else {
      notify_one(g);
    }
  }
  void submitted(std::uint32_t g) {
    if (config_.wakes_on_push) {
      pushed(g);
    } else {
      notify_any(g);
    }
  }

  /// A thief that gives up: true if it sleeps now, otherwise it is a thief still.
  template <class Look>
  bool try_sleep(std::uint32_t g, std::uint32_t worker, Look&& any_work) {
    bool const last = gates_[g].thieves == 1;
    if (any_work() || (config_.keeps_a_thief && last && active_count_ != 0)) return false;
    --gates_[g].thieves;
    gates_[g].sleepers.push_back(worker);
    ++asleep_;
    return true;
  }

  /// This one. False if it does not sleep there.
  bool wake(std::uint32_t g, std::uint32_t worker) {
    auto& sleepers = gates_[g].sleepers;
    auto const at = std::find(sleepers.begin(), sleepers.end(), worker);
    if (at == sleepers.end()) return false;
    sleepers.erase(at);
    --asleep_;
    wake_(worker);
    return true;
  }
  /// There is something for this worker. Unless it is for this worker `only`, another one of the gate may take it.
  void wake_for(std::uint32_t g, std::uint32_t worker, bool only) {
    if (!wake(g, worker) && !only) submitted_here(g);
  }
  void wake_one(std::uint32_t g) { notify_any(g); }
  void wake_here(std::uint32_t g) {
    while (!gates_[g].sleepers.empty()) notify_one(g);
  }

  std::uint32_t asleep() const noexcept { return asleep_; }

 private:
  struct gate {
    std::uint32_t thieves = 0;
    std::vector<std::uint32_t> sleepers;  ///< youngest last
  };

  /// The i-th gate of the ring, from g on.
  std::uint32_t after(std::uint32_t g, std::uint32_t i) const noexcept {
    return static_cast<std::uint32_t>((g + i) % gates_.size());
  }
  bool any_sleeps() const noexcept { return asleep_ != 0; }
  bool no_thieves() const noexcept {
    for (gate const& g : gates_)
      if (g.thieves != 0) return false;
    return true;
  }
  void notify_one(std::uint32_t g) {
    if (gates_[g].sleepers.empty()) return;
    std::uint32_t const worker = gates_[g].sleepers.back();
    gates_[g].sleepers.pop_back();
    --asleep_;
    wake_(worker);
  }
  /// This gate's workers first.
  void notify_any(std::uint32_t g) {
    for (std::uint32_t i = 0; i != gates_.size(); ++i)
      if (!gates_[after(g, i)].sleepers.empty()) return notify_one(after(g, i));
  }

  std::vector<gate> gates_;
  idle_config config_;
  Wake wake_;
  std::uint32_t active_count_ = 0, asleep_ = 0;
};

}  // namespace heist::sim
