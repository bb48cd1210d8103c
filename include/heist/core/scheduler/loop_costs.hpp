// Measured times of wake-ups and short loops. A loop that ends before a wake-up pays wakes no worker.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"

namespace heist::detail {

/// The recent loops of one worker, or of all threads outside. All values are advice. If two threads write at the same
/// time, one value is lost.
///
/// Threads  any.
class loop_costs {
 public:
  /// A loop begins, and no worker searches. Loops in a row may be worth a wake-up together: a woken worker stays awake for
  /// a while.
  void begin(std::uint64_t now) noexcept {
    if (now - get(last_end_) > in_a_row) set(alone_, 0);
  }
  /// Are so many ticks of a loop worth waking a worker? A second worker saves half of them. It begins
  /// some time after the wake-up.
  HEIST_NOINLINE bool are_worth_waking(double ticks) const noexcept {
    return ticks > as_double(3 * get(wake_)) - as_double(get(alone_));
  }
  /// Ticks for `left` iterations, if they take as long as the last `n`, which took so many ticks.
  static double of_rest(std::uint64_t ticks, std::size_t n, std::size_t left) noexcept {
    return as_double(ticks) / as_double(n) * 2 * as_double(left / 2);  // left: perhaps 2^63
  }
  /// A wake-up took so many ticks. An interruption counts only in part.
  void woke(std::uint64_t ticks) noexcept {
    std::uint64_t const before = get(wake_), most = 2 * before + first_wake;
    set(wake_, ticks < before ? (before + ticks) / 2 : ticks < most ? ticks : most);
    set(alone_, 0);
  }
  /// A loop took so many ticks and woke nobody. The next loops need a little less: from time to time one wakes a worker, and
  /// the wake-up is measured again.
  void woke_nobody(std::uint64_t now, std::uint64_t ticks) noexcept {
    set(wake_, get(wake_) - get(wake_) / 128);
    set(alone_, get(alone_) + ticks);
    set(last_end_, now);
  }

  /// Ticks that an iteration of this body took lately. `unknown`: this object does not remember it.
  HEIST_NOINLINE double of_iteration(void const* body) const noexcept {
    std::uint64_t const h = hash(body);
    for (number const& place : bodies_[h % sets]) {
      if (std::uint64_t const kept = get(place); kept >> cost_bits == h >> cost_bits)
        return as_double(kept & most_cost) / unit;
    }
    return unknown;
  }
  /// `n` iterations of this body took so many ticks.
  HEIST_NOINLINE void set_iteration(void const* body, std::uint64_t ticks, std::size_t n) noexcept {
    double const now = as_double(ticks) / as_double(n), before = of_iteration(body);
    if (now > before * 0.75 && now < before * 1.25) return;  // nearly always: other threads read the line
    std::uint64_t const h = hash(body);
    double const cost = now * unit;
    std::uint64_t const kept =
        cost < as_double(most_cost) ? static_cast<std::uint64_t>(static_cast<std::int64_t>(cost)) : most_cost;
    number(&places)[2] = bodies_[h % sets];
    if (get(places[0]) >> cost_bits != h >> cost_bits) set(places[1], get(places[0]));  // it was used later
    set(places[0], h >> cost_bits << cost_bits | kept);
  }
  static constexpr double unknown = 1e30;

  /// Is a loop to begin alone although it was worth sharing? One in 16 is, because what an iteration takes in a shared loop
  /// contains the exchanges between the threads. If it did not, loops that many workers share would stay shared.
  bool is_measured_again() noexcept {
    std::uint64_t const n = get(shared_) + 1;
    set(shared_, n);
    return n * mixer >> 60 == 0;  // not every 16th: bodies may take turns
  }

 private:
  using number = os_env::atomic<std::uint64_t>;
  static constexpr std::uint64_t first_wake = 20'000, in_a_row = 200'000;  // ticks
  static constexpr std::size_t sets = 32;
  static constexpr unsigned cost_bits = 48;  // of a kept number: the cost of an iteration. The others tell bodies apart
  static constexpr std::uint64_t most_cost = (std::uint64_t{1} << cost_bits) - 1;
  static constexpr double unit = 16;
  static constexpr std::uint64_t mixer = 0x9E3779B97F4A7C15u;

  /// Of a number below 2^63: one instruction.
  static double as_double(std::uint64_t n) noexcept { return static_cast<double>(static_cast<std::int64_t>(n)); }
  static std::uint64_t get(number const& n) noexcept { return n.load(std::memory_order_relaxed); }   // relaxed: advice
  static void set(number& n, std::uint64_t to) noexcept { n.store(to, std::memory_order_relaxed); }  // relaxed: advice
  static std::uint64_t hash(void const* body) noexcept {
    std::uint64_t const mixed = reinterpret_cast<std::uintptr_t>(body) * mixer;
    return mixed ^ mixed >> 32;
  }

  number wake_{0};
  number alone_{0};     // ticks of the loops in a row that woke nobody
  number last_end_{0};  // of such a loop
  number shared_{0};    // short loops that were worth sharing
  number bodies_[sets][2] = {};
};

}  // namespace heist::detail
