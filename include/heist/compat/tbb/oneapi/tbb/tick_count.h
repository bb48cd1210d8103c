// tick_count: wall time.
#pragma once

#include <chrono>

#include "heist/compat/tbb/oneapi/tbb/detail/task_state.hpp"

namespace tbb {

class tick_count {
 public:
  class interval_t {
   public:
    interval_t() = default;
    explicit interval_t(double seconds) : time_{std::chrono::duration<double>{seconds}} {}
    double seconds() const { return time_.count(); }
    friend interval_t operator+(interval_t a, interval_t b) { return interval_t{a.seconds() + b.seconds()}; }
    friend interval_t operator-(interval_t a, interval_t b) { return interval_t{a.seconds() - b.seconds()}; }
    interval_t& operator+=(interval_t other) { return *this = *this + other; }
    interval_t& operator-=(interval_t other) { return *this = *this - other; }

   private:
    std::chrono::duration<double> time_{0};
  };

  static tick_count now() {
    tick_count t;
    t.at_ = std::chrono::steady_clock::now();
    return t;
  }
  static double resolution() { return std::chrono::duration<double>{std::chrono::steady_clock::duration{1}}.count(); }
  friend interval_t operator-(tick_count a, tick_count b) {
    return interval_t{std::chrono::duration<double>{a.at_ - b.at_}.count()};
  }

 private:
  std::chrono::steady_clock::time_point at_{};
};

}  // namespace tbb
