// How long the threads of this process were ready to run and had no CPU: what other programs took from a measurement.
#pragma once

#include <exception>
#include <filesystem>
#include <fstream>

namespace locality {

/// Seconds, of all threads that there are now, since each began; 0 where the system does not say. Linux.
inline double cpu_wait() {
  double sum = 0;
  try {
    for (auto const& thread : std::filesystem::directory_iterator{"/proc/self/task"}) {
      std::ifstream in{thread.path() / "schedstat"};
      double ran = 0, has_waited = 0;
      if (in >> ran >> has_waited) sum += has_waited;
    }
  } catch (std::exception const&) {
    return 0;  // a thread has ended meanwhile, or there is no such folder
  }
  return 1e-9 * sum;
}

}  // namespace locality
