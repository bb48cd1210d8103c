// Bodies of default_executor.hpp.
#pragma once

#include "heist/dynamic/default_executor.hpp"

#include <cstdlib>  // getenv

#include <fmt/core.h>

#include "heist/base/environment.hpp"
#include "heist/base/errors.hpp"

namespace heist {

HEIST_COLD_BODY std::size_t detail::workers_wanted(char const* text) {
  if (text == nullptr || *text == 0) return 0;
  auto const n = whole_number<std::size_t>(text, 1, ~std::size_t{0});
  if (!n) {
    throw executor_error{fmt::format(
        "HEIST_WORKERS is '{}', which is no number of workers. Fix it by a number from 1 on, or leave it out "
        "and get as many workers as CPUs.",
        text)};
  }
  return *n;
}

HEIST_COLD_BODY executor<>& default_executor() {
  static executor<> process_wide{options{.workers = detail::workers_wanted(std::getenv("HEIST_WORKERS"))}};
  return process_wide;
}

}  // namespace heist
