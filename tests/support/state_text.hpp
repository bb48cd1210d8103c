// The state of an executor, as text.
#pragma once

#include <string>
#include <thread>

namespace heist_test {

/// Waits until state_text() of `ex` has `words`, and returns a later text. The parts of a text are read one after the
/// other. When the last part tells of a circle, the first may have missed one of its tasks.
template <class Executor>
std::string state_text_after(Executor const& ex, char const* words) {
  while (ex.state_text().find(words) == std::string::npos) std::this_thread::yield();
  return ex.state_text();
}

}  // namespace heist_test
