// Both kinds of flow, where there are both, and what their tests share.
#pragma once

#include <tuple>
#include <type_traits>

#include "heist/fiber/flow.hpp"

namespace heist_test {

/// The one that the library runs on comes first.
using every_flow = std::conditional_t<std::is_same_v<heist::detail::flow, heist::detail::boost_flow>,
                                      std::tuple<heist::detail::boost_flow>,
                                      std::tuple<heist::detail::flow, heist::detail::boost_flow>>;

inline constexpr heist::detail::after_switch nothing{nullptr, nullptr};

inline heist::detail::stack small_stack() {
  return heist::detail::stack::map(std::size_t{1} << 17);
}

/// A flow with a stack of its own and nothing on it.
template <class Flow>
struct fresh : Flow {
  explicit fresh(unsigned colour = 0) : Flow{small_stack(), colour} {}
};

/// The end of a function that `child` was called for and whose caller has been overtaken: goes on in `to`.
template <class Flow>
int leave(Flow& child, Flow& to, heist::detail::after_switch then = nothing) noexcept {
  Flow::leave(child, to, then);
  return 1;  // where leave() returns the function must, too
}

}  // namespace heist_test
