// Where an algorithm runs: an executor, from outside; a context, inside a task.
#pragma once

#include <concepts>
#include <cstddef>  // size_t
#include <type_traits>
#include <utility>  // forward, pair

#include "heist/core/base/config.hpp"
#include "heist/core/executor/context.hpp"
#include "heist/core/executor/executor.hpp"
#include "heist/core/extension/loop_region.hpp"
#include "heist/core/fiber/control_words.hpp"
#include "heist/core/fiber/current.hpp"
#include "heist/core/fork/remote.hpp"
#include "heist/parallel/algorithm/loop.hpp"
#include "heist/parallel/algorithm/options.hpp"
#include "heist/parallel/algorithm/shared_loop.hpp"

namespace heist::detail {

template <class T>
inline constexpr bool is_executor = false;
template <class Policy, class Observer>
inline constexpr bool is_executor<executor<Policy, Observer>> = true;
template <>
inline constexpr bool is_executor<executor_ref> = true;
template <>
inline constexpr bool is_executor<executor_ref const> = true;

template <class T>
inline constexpr bool is_own_context = false;
template <class T>
inline constexpr bool is_own_context<T const> = is_own_context<T>;
template <class Order>
inline constexpr bool is_own_context<basic_context<Order>> = true;

/// Those that measure or record, too.
template <class T>
concept any_context = is_own_context<T> || requires(T const& c) {
  { c.worker_id() } -> std::convertible_to<std::size_t>;
  { c.stop_requested() } -> std::convertible_to<bool>;
};

template <class On>
constexpr void check_place() {
  static_assert(is_executor<On> || any_context<On>,
                "heist: an algorithm takes first where it runs: a heist::executor, or inside a task its context; fix "
                "it by `heist::executor ex;` and ex as the first argument.");
}

/// The context that a loop on `on` gives to its body, and uses itself: one for all orders, so that one engine is
/// compiled.
template <class On>
using loop_context = std::conditional_t<is_executor<On> || is_own_context<On>, context, std::remove_cv_t<On>>;

/// The fiber of the calling code, if it is a task of this executor.
template <class Executor>
fiber* fiber_inside(Executor& ex) noexcept {
  worker* const w = this_worker();
  if (w == nullptr || &w->scheduler != &executor_access::core_of(ex)) return nullptr;
  return w->current.load(std::memory_order_relaxed);  // relaxed: its own
}

template <class Context, class F>
auto within_region(Context const& c, region* r, F& f) -> decltype(f(c)) {
  if constexpr (std::is_same_v<Context, context>) {
    if (r != nullptr) {
      using result = decltype(f(c));
      struct {
        F& f;
        control_words modes = control_words::now();
        std::conditional_t<std::is_void_v<result>, char, result> value{};
      } call{f};
      auto const run = [](void* of, context inside) {
        auto& called = *static_cast<decltype(call)*>(of);
        in_modes const as_caller{called.modes};
        if constexpr (std::is_void_v<result>) {
          called.f(inside);
        } else {
          called.value = called.f(inside);
        }
      };
      loop_region::call.load(std::memory_order_relaxed)(*r, c, run, &call);  // relaxed: there is a region
      return static_cast<result>(call.value);
    }
  }
  return f(c);
}

/// Calls `f(context)` as a task of `on`, or in the place of one, and returns its result. A thread outside works
/// meanwhile, if it can (executor::run_here). `f` computes in the caller's floating-point modes.
template <class On, class F>
decltype(auto) on_workers(On& on, region* r, F&& f) {
  check_place<On>();
  if constexpr (is_executor<On>) {
    if (fiber* const here = detail::fiber_inside(on); here != nullptr)
      return detail::within_region(context_access::make<context>(*here, position_here(*here)), r, f);
    return on.run_here([&, modes = control_words::now()](context c) {
      in_modes const as_caller{modes};
      return detail::within_region(c, r, f);
    });
  } else if constexpr (is_own_context<On>) {
    return detail::within_region(callers_context<context>{on}.context, r, f);
  } else {
    return detail::within_region(on, r, f);
  }
}

/// The executor of `on`, and the fiber of the calling code if that is a task of it.
template <class On>
std::pair<core*, fiber*> place_of_caller(On& on) noexcept {
  if constexpr (is_executor<On>) {
    return {&executor_access::core_of(on), detail::fiber_inside(on)};
  } else {
    fiber& here = fiber_of_caller(context_access::fiber_of(on));
    return {&here.scheduler, &here};
  }
}

/// Runs one loop over [0, n). False if it was stopped after it had begun. Throws stopped_error if the stop was
/// requested before. A thread outside works itself, if the body needs no context.
template <class On>
bool run_loop(On& on, std::size_t n, loop_body<loop_context<On>>& body, loop_options const& wanted, void* result,
              bool needs_context) {
  check_place<On>();
  check_options(wanted);
  if constexpr (std::is_same_v<loop_context<On>, context>) {
    if (wanted.region == nullptr && !needs_context) {
      auto const [scheduler, here] = detail::place_of_caller(on);
      if (may_share_loops(*scheduler, here))
        return detail::run_shared(*scheduler, here, body, n, wanted.grain, wanted.stop, result);
    }
  }
  loop<loop_context<On>> all{body, n, wanted.grain, wanted.stop};
  return detail::on_workers(on, wanted.region, [&](loop_context<On> const& c) { return all.run(c, result); });
}

}  // namespace heist::detail
