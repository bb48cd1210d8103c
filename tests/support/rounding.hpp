// Rounding modes: to set one, and to see which one arithmetic uses.
#pragma once

#include <cfenv>

namespace heist_test {

/// Sets a rounding mode, both that of SSE and that of the x87 where there are two; gives the old one back.
class rounding {
 public:
  explicit rounding(int mode) : before_{std::fegetround()} { std::fesetround(mode); }
  rounding(rounding const&) = delete;
  rounding& operator=(rounding const&) = delete;
  ~rounding() { std::fesetround(before_); }

 private:
  int before_;
};

/// The rounding mode that arithmetic really uses: FE_TONEAREST (which includes towards zero), FE_UPWARD or FE_DOWNWARD.
/// -1 if the units for double and long double disagree.
inline int mode_in_use() {
  auto const mode_of = []<class Float>(Float) {
    Float volatile one = 1, minus_one = -1, three = 3;
    Float volatile const third = one / three, negative = minus_one / three;
    Float const above = third, below = negative;
    return above == -below ? FE_TONEAREST : above > -below ? FE_UPWARD : FE_DOWNWARD;
  };
  int const mode = mode_of(1.0);
  return mode == mode_of(1.0L) ? mode : -1;
}

}  // namespace heist_test
