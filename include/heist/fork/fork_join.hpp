// fork_join: several callables, in parallel if there are workers, their results as a tuple.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>  // forward

#include "heist/base/config.hpp"
#include "heist/base/errors.hpp"
#include "heist/base/result.hpp"
#include "heist/fork/child_first.hpp"
#include "heist/fork/parent_first.hpp"
#include "heist/policy/order.hpp"
#include "heist/sched/context.hpp"
#include "heist/sched/current.hpp"

namespace heist {

template <class Order>
template <class... F>
HEIST_ALWAYS_INLINE auto basic_context<Order>::fork_join(F&&... f) const {
  static_assert(sizeof...(F) > 0, "heist: fork_join needs at least one callable.");
  using parent_first = detail::parent_first_fork<basic_context, std::remove_reference_t<F>...>;
  using child_first = detail::child_first_fork<basic_context, std::remove_reference_t<F>...>;
  if constexpr (std::is_same_v<Order, order::of_executor>) {
    if (fiber_->child_first) return child_first::run(*fiber_, position_, f...);
    return parent_first::run(*fiber_, position_, f...);
  } else if constexpr (Order::child_starts) {
    return child_first::run(*fiber_, position_, f...);
  } else {
    return parent_first::run(*fiber_, position_, f...);
  }
}

/// As context::fork_join where no context is at hand: inside a task of any executor in parallel, outside one after the
/// other, as plain calls: the first exception ends it. The callables take no context, or one if they run inside.
template <class... F>
auto fork_join(F&&... f) {
  if (detail::worker* const w = detail::this_worker(); w != nullptr) {
    detail::fiber& on = *w->current.load(std::memory_order_relaxed);  // relaxed: its own
    return detail::context_access::make<context>(on, on.top()).fork_join(std::forward<F>(f)...);
  }
  if constexpr ((detail::callable_plain<std::remove_reference_t<F>> && ...)) {
    auto const call = [](auto& function) -> detail::value_or_monostate<decltype(function())> {
      if constexpr (std::is_void_v<decltype(function())>) {
        function();
        return {};
      } else {
        return function();
      }
    };
    return std::tuple<detail::value_or_monostate<decltype(f())>...>{call(f)...};  // braces: from left to right
  } else {
    throw executor_error{
        "heist::fork_join with callables that take a context, outside of any task: there is none to give. "
        "Mend it by calling it inside executor::sync_wait, or by callables without parameters."};
  }
}

}  // namespace heist
