// The circuits that the tests time: our own samples, and larger ones kept outside this repository, which may be absent.
#pragma once

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

namespace timing_test {

inline std::string sample(std::string const& name) {
  return std::string{HEIST_SOURCE_DIR} + "/tests/examples/timing/data/" + name;
}

/// Paths of all circuits of the outside folder; says so when there is none.
inline std::vector<std::string> outside_circuits() {
  std::filesystem::path const folder = std::filesystem::path{HEIST_SOURCE_DIR} / ".." / "shared" / "circuits";
  std::vector<std::string> found;
  std::error_code error;
  for (auto const& entry : std::filesystem::directory_iterator{folder, error}) {
    if (entry.path().extension() == ".v") found.push_back(entry.path().string());
  }
  std::sort(found.begin(), found.end());
  if (found.empty()) std::printf("skipped: the circuits of ../shared/circuits are not here\n");
  return found;
}

}  // namespace timing_test
