// Do sanitizers slow this build down? Then tests do less of the same. Is it the user's command (HEIST_QUICK_TESTS)?
// Then templates over policies are made for fewer of them.
#pragma once

#include "heist/core/base/config.hpp"

namespace heist_test {

inline constexpr bool slow = heist::under_tsan || heist::under_asan;

#ifdef HEIST_FEW_POLICIES
inline constexpr bool few_policies = true;
#else
inline constexpr bool few_policies = false;
#endif

}  // namespace heist_test
