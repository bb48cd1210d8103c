// Bodies of environment_trace.hpp.
#pragma once

#include "heist/observe/environment_trace.hpp"

#include <cstdio>   // fprintf
#include <cstdlib>  // getenv

namespace heist::detail {

HEIST_COLD_BODY std::unique_ptr<environment_trace> environment_trace::wanted() noexcept {
  auto const asks = [](char const* variable) {
    char const* const text = std::getenv(variable);
    return text != nullptr && *text != 0;
  };
  if (!asks("HEIST_TRACE") && !asks("HEIST_REPORT")) return nullptr;
  if (make == nullptr) {
    std::fprintf(stderr,
                 "heist: HEIST_TRACE or HEIST_REPORT is set, but nothing in this program can write it; fix it by "
                 "linking heist::compiled, or by including heist/report.hpp in one of its files\n");
    return nullptr;
  }
  environment_trace* const made = make();
  if (made == nullptr) std::fprintf(stderr, "heist: no memory for what HEIST_TRACE or HEIST_REPORT asks for\n");
  return std::unique_ptr<environment_trace>{made};
}

}  // namespace heist::detail
