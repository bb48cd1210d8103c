// A victim policy of one's own, in 20 lines.
#pragma once

#include <heist/policy.hpp>

#include <cstdint>

/// Whoever had something to steal is robbed again, up to eight times in a row; then somebody at random.
class grateful {
 public:
  /// Whom to steal from, a number below me.workers. Its own number stands for what was submitted from outside.
  std::uint32_t next(heist::victim::thief_view const& me, heist::fast_random& random) noexcept {
    if (left_ > 1) {
      --left_;
      return last_;
    }
    left_ = 0;
    return random.below(me.workers);
  }

  /// What came of it.
  void feedback(std::uint32_t victim, heist::victim::outcome what) noexcept {
    if (what != heist::victim::outcome::stolen) {
      left_ = 0;
    } else if (left_ == 0) {
      last_ = victim;
      left_ = 9;
    }
  }

 private:
  std::uint32_t last_ = 0;  // to whom it is grateful
  std::uint32_t left_ = 0;  // how often it will come back, and 1; 0: not
};
