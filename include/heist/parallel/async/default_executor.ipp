// Bodies of default_executor.hpp.
#pragma once

#include "heist/parallel/async/default_executor.hpp"

namespace heist {

HEIST_COLD_BODY executor<>& default_executor() {
  static executor<> process_wide;
  return process_wide;
}

}  // namespace heist
