// The compared idle policies, with the adaptive paper's names for them.
#pragma once

#include <heist/policy.hpp>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace papers {

/// MBWS to the letter: thieves do not yield, and one of them, the watchdog, never sleeps, also if no worker is active.
/// The first thief that would sleep becomes the watchdog, until it has work. For one executor, or simulation, at a time.
class literal_bws {
 public:
  static constexpr bool never_sleeps = false;
  static constexpr bool keeps_a_thief = true;
  static constexpr bool wakes_on_push = false;
  static constexpr std::uint32_t helpers = 2;

  literal_bws() = default;
  literal_bws(literal_bws const&) noexcept {}  // another thief, which is no watchdog
  literal_bws& operator=(literal_bws const&) noexcept { return *this; }
  ~literal_bws() { retire(); }

  void begin(std::uint32_t, std::uint64_t) noexcept {
    failed_steals_ = 0;
    retire();
  }
  heist::idle::step failed() noexcept {
    if (++failed_steals_ < sleep_threshold) return heist::idle::step::search;
    failed_steals_ = 0;
    literal_bws* none = nullptr;
    bool const watches = watchdog().compare_exchange_strong(none, this) || none == this;
    return watches ? heist::idle::step::search : heist::idle::step::sleep;
  }
  std::uint32_t pauses() const noexcept { return 0; }
  std::uint32_t wake_delay() const noexcept { return 0; }

 private:
  static constexpr std::uint32_t sleep_threshold = 64;  // the paper's section III
  static std::atomic<literal_bws*>& watchdog() noexcept {
    static std::atomic<literal_bws*> one{nullptr};
    return one;
  }
  void retire() noexcept {
    literal_bws* own = this;
    watchdog().compare_exchange_strong(own, nullptr);
  }

  std::uint32_t failed_steals_ = 0;
};

/// Calls f.operator()<Idle>(name) for each policy.
template <class F>
void for_each_idle_policy(F&& f) {
  f.template operator()<heist::idle::spinning>("spinning (ABP)");
  f.template operator()<heist::idle::bws>("balanced (MBWS)");
  f.template operator()<literal_bws>("MBWS to the letter");
  f.template operator()<heist::idle::adaptive>("adaptive (theirs)");
  f.template operator()<heist::idle::standard>("standard (ours)");
}

inline std::vector<std::string> idle_policy_names() {
  std::vector<std::string> names;
  for_each_idle_policy([&]<class Idle>(std::string const& name) { names.push_back(name); });
  return names;
}

}  // namespace papers
