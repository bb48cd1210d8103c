// Bodies of group.hpp.
#pragma once

#include "heist/parallel/algorithm/group.hpp"

#include "heist/core/base/errors.hpp"

namespace heist::detail {

HEIST_COLD_BODY void throw_no_bin(std::string const& bin, std::size_t bins) {
  throw algorithm_error{"heist::histogram: an element belongs to bin " + bin + ", and there are " +
                        std::to_string(bins) + "; fix it by more bins, or by a function that names one of them."};
}

}  // namespace heist::detail
