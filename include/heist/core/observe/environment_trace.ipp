// Bodies of environment_trace.hpp.
#pragma once

#include "heist/core/observe/environment_trace.hpp"

#include <cstdio>  // fprintf

#include "heist/core/base/environment.hpp"
#include "heist/core/base/unique_ptr.hpp"

namespace heist::detail {

HEIST_COLD_BODY unique_ptr<environment_trace> environment_trace::wanted() noexcept {
  if (environment_text(variable::trace).empty() && environment_text(variable::report).empty()) return nullptr;
  if (make == nullptr) {
    if (!is_first_to_say(message::no_trace)) return nullptr;
    std::fprintf(stderr,
                 "heist: HEIST_TRACE or HEIST_REPORT is set, but nothing in this program can write it; fix it by "
                 "linking heist::compiled, or by including heist/report.hpp in one of its files\n");
    return nullptr;
  }
  environment_trace* const made = make();
  if (made == nullptr) std::fprintf(stderr, "heist: no memory for what HEIST_TRACE or HEIST_REPORT asks for\n");
  return unique_ptr<environment_trace>{made};
}

}  // namespace heist::detail
