// Bodies of tiles.hpp.
#pragma once

#include "heist/parallel/algorithm/tiles.hpp"

#include "heist/core/base/errors.hpp"

namespace heist::detail {

HEIST_BODY tiles::tiles(index_range rows, index_range columns)
    : rows_{rows.size()}, columns_{columns.size()}, first_row_{rows.first}, first_column_{columns.first} {
  if (columns_ != 0 && rows_ > ~std::size_t{0} / columns_) {
    throw algorithm_error{
        "heist::for_each_index_2d: more pairs of indices than a std::size_t can count; fix it by a loop over the rows "
        "with one over the columns inside."};
  }
}

}  // namespace heist::detail
