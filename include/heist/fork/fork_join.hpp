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
#include "heist/fork/recorded.hpp"
#include "heist/fork/tier_fork.hpp"
#include "heist/policy/order.hpp"
#include "heist/sched/context.hpp"
#include "heist/sched/current.hpp"

namespace heist {

namespace detail {

/// A fork of a frame that is in a tier. Apart, with a copy of the context, so that a frame that is not costs no more
/// than under other policies. `inter`: by inter_fork.
template <class Context, class... F>
HEIST_NOINLINE auto fork_in_tier(Context c, bool inter, in_register<F>... f) {
  if (HEIST_LIKELY(context_access::mark_of(c) == tier_mark::intra))
    return child_first_fork<Context, F...>::run(context_access::fiber_of(c), context_access::position_of(c), f...);
  return tier_fork<Context, F...>(c, inter, f...);
}

/// A fork where the policy has tiers.
template <class Context, class... F>
HEIST_ALWAYS_INLINE auto fork_by_tier(Context c, bool inter, F&... f) {
  if (HEIST_LIKELY(context_access::mark_of(c) == tier_mark::flat))
    return parent_first_fork<Context, F...>::run(context_access::fiber_of(c), context_access::position_of(c), f...);
  return fork_in_tier<Context, F...>(c, inter, f...);
}

/// A fork of a context that leaves the order to an executor whose order is not parent-first. Apart, and with a copy of
/// the context, for the sake of those where it is.
template <class Context, class... F>
HEIST_COLD auto fork_otherwise(Context c, bool inter, in_register<F>... f) {
  fiber& on = context_access::fiber_of(c);
  if (on.order == fork_order::child_first)
    return child_first_fork<Context, F...>::run(on, context_access::position_of(c), f...);
  if (on.order == fork_order::recorded) return recorded_fork_of(c, f...);
  return fork_by_tier<Context, F...>(c, inter, f...);
}

}  // namespace detail

template <class Order>
template <class... F>
HEIST_ALWAYS_INLINE auto basic_context<Order>::fork_join(F&&... f) const {
  static_assert(sizeof...(F) > 0, "heist: fork_join needs at least one callable.");
  using parent_first = detail::parent_first_fork<basic_context, detail::forked_callable<F>...>;
  using child_first = detail::child_first_fork<basic_context, detail::forked_callable<F>...>;
  if constexpr (std::is_same_v<Order, order::of_executor>) {
    if (fiber_->order == fork_order::parent_first) return parent_first::run(*fiber_, position_, f...);
    return detail::fork_otherwise<basic_context, detail::forked_callable<F>...>(*this, false, f...);
  } else if constexpr (Order::value == fork_order::by_tier) {
    return detail::fork_by_tier<basic_context, detail::forked_callable<F>...>(*this, false, f...);
  } else if constexpr (Order::value == fork_order::child_first) {
    return child_first::run(*fiber_, position_, f...);
  } else if constexpr (Order::value == fork_order::recorded) {
    return detail::recorded_fork<basic_context, detail::forked_callable<F>...>::run(*fiber_, position_, f...);
  } else {
    return parent_first::run(*fiber_, position_, f...);
  }
}

template <class Order>
template <class... F>
auto basic_context<Order>::inter_fork(F&&... f) const {
  static_assert(sizeof...(F) > 0, "heist: inter_fork needs at least one callable.");
  if constexpr (std::is_same_v<Order, order::of_executor>) {
    if (fiber_->order == fork_order::parent_first) return fork_join(std::forward<F>(f)...);
    return detail::fork_otherwise<basic_context, detail::forked_callable<F>...>(*this, true, f...);
  } else if constexpr (Order::value == fork_order::by_tier) {
    return detail::fork_by_tier<basic_context, detail::forked_callable<F>...>(*this, true, f...);
  } else {
    return fork_join(std::forward<F>(f)...);
  }
}

/// As context::fork_join where no context is at hand: inside a task of any executor in parallel, outside one after the
/// other, as plain calls: the first exception ends it. The callables take no context, or one if they run inside.
template <class... F>
auto fork_join(F&&... f) {
  if (detail::worker* const w = detail::this_worker(); w != nullptr) {
    detail::fiber& on = *w->current.load(std::memory_order_relaxed);  // relaxed: its own
    return detail::context_access::make<context>(on, detail::position_here(on)).fork_join(std::forward<F>(f)...);
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
