// Bodies of region_entry.hpp.
#pragma once

#include "heist/locality/region/region_entry.hpp"

namespace heist::detail {

HEIST_COLD_BODY void enter_region_of_loop(region& r, context const& c, loop_region::body b, void* of) {
  c.invoke(r, [&](context inside) { b(of, inside); });
}

}  // namespace heist::detail
