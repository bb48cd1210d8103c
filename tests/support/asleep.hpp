// How many workers of an executor sleep.
#pragma once

#include <cstddef>
#include <string>

namespace heist_test {

template <class Executor>
std::size_t asleep(Executor const& ex) {
  std::string const text = ex.state_text();
  std::size_t n = 0;
  for (std::size_t at = text.find("asleep"); at != std::string::npos; at = text.find("asleep", at + 1)) ++n;
  return n;
}

}  // namespace heist_test
