// Do sanitizers slow this build down? Then tests do less of the same.
#pragma once

#include "heist/base/config.hpp"

namespace heist_test {

inline constexpr bool slow = heist::under_tsan || heist::under_asan;

}  // namespace heist_test
