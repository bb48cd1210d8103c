// fork_join: several callables, in parallel if there are workers, their results as a tuple.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>  // forward

#include "heist/core/base/errors.hpp"
#include "heist/core/base/result.hpp"
#include "heist/core/executor/context.hpp"
#include "heist/core/executor/task_callable.hpp"
#include "heist/core/fiber/current.hpp"
#include "heist/core/fork/fork_traits.hpp"
#include "heist/core/fork/remote.hpp"

namespace heist {

/// As context::fork_join where no context is at hand: inside a task of any executor in parallel, outside one after the
/// other, as plain calls. There the first exception ends it. The callables take no context, or one if they run inside.
template <class... F>
auto fork_join(F&&... f) {
  if constexpr (!(detail::accepted<detail::as_forked<context, detail::forked_callable<F>>>() && ...)) {
    return std::tuple<detail::rejected_result<F>...>{};
  } else if (detail::worker* const w = detail::this_worker(); w != nullptr) {
    detail::fiber& self = *w->current.load(std::memory_order_relaxed);  // relaxed: its own
    return detail::context_access::make<context>(self, detail::position_here(self)).fork_join(std::forward<F>(f)...);
  } else if constexpr ((detail::callable_plain<std::remove_reference_t<F>> && ...)) {
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
        "Fix it by calling it inside executor::invoke, or by callables without parameters."};
  }
}

}  // namespace heist
