// Stands for parallel/algorithm/options.hpp: without regions.
#pragma once

#include <cstddef>

namespace heist {

struct loop_options {
  static constexpr std::size_t automatic = ~std::size_t{0};
};

}  // namespace heist
