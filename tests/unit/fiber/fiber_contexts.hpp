// Both kinds of fiber_context, where there are both, and what their tests share.
#pragma once

#include <tuple>
#include <type_traits>

#include "heist/core/fiber/fiber_context.hpp"

namespace heist_test {

/// The one that the library runs on comes first.
using every_fiber_context =
    std::conditional_t<std::is_same_v<heist::detail::fiber_context, heist::detail::boost_fiber_context>,
                       std::tuple<heist::detail::boost_fiber_context>,
                       std::tuple<heist::detail::fiber_context, heist::detail::boost_fiber_context>>;

inline constexpr heist::detail::after_switch nothing{nullptr, nullptr};

inline heist::detail::stack small_stack() {
  return heist::detail::stack::map(std::size_t{1} << 17);
}

/// A fiber_context with a stack of its own and nothing on it.
template <class FiberContext>
struct unused : FiberContext {
  explicit unused(unsigned color = 0) : FiberContext{small_stack(), color} {}
};

/// The end of a function that `child` was called for and whose caller has been overtaken: resumes in `to`.
template <class FiberContext>
int leave(FiberContext& child, FiberContext& to, heist::detail::after_switch then = nothing) noexcept {
  FiberContext::leave(child, to, then);
  return 1;  // where leave() returns the function must, too
}

}  // namespace heist_test
