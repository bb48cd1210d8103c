// A user's victim policy, in 20 lines.
#pragma once

#include <heist/policy.hpp>

#include <cstdint>

/// A thief returns to the victim of its last steal, up to eight times in a row. Then it picks a victim at random.
class grateful {
 public:
  /// Returns the next victim, a number below me.workers. The thief's own number stands for external tasks.
  std::uint32_t next(heist::victim::thief_view const& me, heist::fast_random& random) noexcept {
    if (left_ > 1) {
      --left_;
      return last_;
    }
    left_ = 0;
    return random.below(me.workers);
  }

  /// Receives the outcome of the attempt.
  void feedback(std::uint32_t victim, heist::victim::outcome what) noexcept {
    if (what != heist::victim::outcome::stolen) {
      left_ = 0;
    } else if (left_ == 0) {
      last_ = victim;
      left_ = 9;
    }
  }

 private:
  std::uint32_t last_ = 0;  // the victim of the last steal
  std::uint32_t left_ = 0;  // the number of returns left, plus one; 0: none
};
