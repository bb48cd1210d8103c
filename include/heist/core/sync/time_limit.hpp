// A limit in time that counts, as its owner sees it.
#pragma once

#include <stop_token>

#include "heist/core/base/unique_ptr.hpp"

namespace heist::detail {

/// At its end it stops every task that has its token.
struct time_limit {
  void (*end)(time_limit& self) noexcept;  ///< it counts no more, and is gone
  std::stop_token token;
};
struct end_limit {
  void operator()(time_limit* of) const noexcept { of->end(*of); }
};
using running_limit = unique_ptr<time_limit, end_limit>;

}  // namespace heist::detail
