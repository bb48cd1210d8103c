// fork_join: several callables, in parallel if there are workers, their results as a tuple.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>  // size_t
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>  // forward, index_sequence

#include "heist/base/env.hpp"
#include "heist/base/errors.hpp"
#include "heist/base/result.hpp"
#include "heist/sched/context.hpp"
#include "heist/sched/core.hpp"
#include "heist/sched/core_fibers.hpp"
#include "heist/sched/current.hpp"
#include "heist/sync/completion.hpp"

namespace heist {
namespace detail {

/// Those of a fork's children that were stolen, and the frame that waits for them.
struct join_point {
  explicit join_point(std::uint32_t children) noexcept : outstanding{children} {}

  /// A stolen child has finished; the last one lets the frame go on. Nothing of the frame may be touched afterwards.
  void child_finished() {
    // acq_rel: the last one, and through it the frame, sees what all did
    if (outstanding.fetch_sub(1, std::memory_order_acq_rel) == 1) all_finished.complete();
  }

  os_env::atomic<std::uint32_t> outstanding;  ///< children that have not run inline
  completion all_finished;
};

inline task_view describe_fork(runnable const& self) noexcept {
  return {task_kind::other, &self, nullptr};
}
inline constexpr described_operations fork_operations{&describe_fork};
inline constexpr described fork_what{&fork_operations};

/// A child that stands in a deque while its parent goes on; lives in the parent's frame.
template <class F>
struct forked_child : runnable {
  using result = task_result<F>;

  forked_child(F& f) noexcept : runnable{&run_stolen, &fork_what}, function{&f} {}

  void call(fiber& on) noexcept {
    try {
      value.fill([&]() -> decltype(auto) { return call_with_context(*function, on, interrupt); });
    } catch (...) {
      exception = std::current_exception();
    }
  }

  static runnable* run_stolen(runnable& self, fiber& on) {
    on.on->report_tally();
    auto& child = static_cast<forked_child&>(self);
    child.call(on);
    child.join->child_finished();
    return nullptr;
  }

  F* function;
  join_point* join = nullptr;
  interrupt_state const* interrupt = nullptr;
  std::exception_ptr exception;
  result_slot<result> value;
};

template <class R>
value_or_monostate<R> take_value(result_slot<R>& slot) {
  if constexpr (std::is_void_v<R>) {
    return {};
  } else {
    return slot.take();
  }
}

}  // namespace detail

template <class... F>
auto context::fork_join(F&&... f) const {
  static_assert(sizeof...(F) > 0, "heist: fork_join needs at least one callable.");
  using namespace detail;
  constexpr std::size_t count = sizeof...(F);
  fiber& on = *fiber_;
  join_point join{static_cast<std::uint32_t>(count)};
  std::tuple<forked_child<std::remove_reference_t<F>>...> children{f...};
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((std::get<I>(children).join = &join, std::get<I>(children).interrupt = interrupt_), ...);
    std::array<runnable*, count> const all{&std::get<I>(children)...};
    // The first runs here; the others are pushed, so that thieves take the last first and the owner goes in order.
    for (std::size_t i = count; i-- > 1;) on.home.push(*on.on, *all[i]);
    std::get<0>(children).call(on);
    std::uint32_t inline_runs = 1;
    bool stolen = false;
    auto const run_if_mine = [&](auto& child) {
      if (stolen) return;
      worker& w = *on.on;
      runnable* const top = w.deque.pop();
      if (top == &child) {
        child.call(on);
        ++inline_runs;
        return;
      }
      // The child was stolen, with all the older ones, or the frame has moved to another worker, or the children have
      // left tasks of their own: whatever it is, the loop of a worker will run it.
      if (top != nullptr) on.home.push(w, *top);
      stolen = true;
    };
    // One comma operand each: from the second to the last.
    ((I == 0 ? void() : run_if_mine(std::get<I>(children))), ...);
    // acq_rel: what the stolen ones did
    if (join.outstanding.fetch_sub(inline_runs, std::memory_order_acq_rel) != inline_runs)
      on.wait_for(join.all_finished);
    (...,
     (std::get<I>(children).exception ? std::rethrow_exception(std::move(std::get<I>(children).exception)) : void()));
  }
  (std::index_sequence_for<F...>{});
  return std::apply(
      [](auto&... child) {
        return std::tuple<value_or_monostate<task_result<std::remove_reference_t<F>>>...>{take_value(child.value)...};
      },
      children);
}

/// As context::fork_join where no context is at hand: inside a task of any executor in parallel, outside one after the
/// other, as plain calls: the first exception ends it. The callables take no context, or one if they run inside.
template <class... F>
auto fork_join(F&&... f) {
  if (detail::worker* const w = detail::this_worker(); w != nullptr) {
    return detail::context_access::make(*w->current).fork_join(std::forward<F>(f)...);
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
