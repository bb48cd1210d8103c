// How a task enters a region.
#pragma once

#include <cstdint>
#include <memory>  // addressof
#include <type_traits>
#include <utility>  // forward

#include "heist/fork/elsewhere.hpp"
#include "heist/fork/fork_join.hpp"
#include "heist/fork/recorded.hpp"
#include "heist/fork/recorded_entry.hpp"
#include "heist/fork/region_run.hpp"
#include "heist/fork/tier_fork.hpp"

namespace heist {

namespace detail {

/// The caller waits; the body is an inter-squad task of the region's home squad, so that the tree is dealt from the
/// same place every time.
template <class Context, class F>
decltype(auto) run_in_squads(region_run& run, fiber& on, F& f) {
  inter_join join{1};
  inter_child<Context, F> body{f, run, on.interrupt, join};
  body.start_pinned(run.home_squad(*on.on));
  on.wait_for(join.all_ended);
  if (body.failed()) body.out().rethrow();
  if constexpr (std::is_void_v<typename inter_child<Context, F>::result>) {
    body.out().take();
  } else {
    return body.out().take();
  }
}

/// A region that is not divided. Its body gets the context of a parent-first order, if it takes any: then its forks
/// cost what they cost under such a policy.
template <class Context, class F>
decltype(auto) run_flat(Context const& c, F& f) {
  using undivided = basic_context<order::undivided>;
  if constexpr (!callable_plain<F> && std::is_same_v<Context, basic_context<order::by_tier>> &&
                callable_with_context<F, undivided>) {
    if constexpr (std::is_same_v<task_result<undivided, F>, task_result<Context, F>>) {
      return call_task(f, context_access::make<undivided>(context_access::fiber_of(c), context_access::position_of(c)));
    } else {
      return call_task(f, c);
    }
  } else {
    return call_task(f, c);
  }
}

template <class Context, class F>
decltype(auto) run_region(region& r, Context const& c, F& f) {
  fiber& on = context_access::fiber_of(c);
  region_run run{r, on.home};
  finished_at_end<region_run> const end{run};
  switch (run.plan()) {
    case division::flat:
      return run_flat(c, f);
    case division::profiled: {
      profiled_child<Context, F> body{std::addressof(f), &run, profiled_task::no_parent, 0};
      return body(c);
    }
    default:
      // The squad that is to run the body may need the worker that the caller keeps.
      if (!may_suspend(*on.on)) {
        run.not_divided();
        return run_flat(c, f);
      }
      return static_cast<task_result<Context, F>>(run_in_squads<Context>(run, on, f));
  }
}

/// By code that runs where the context `c` belongs.
template <class Order, class F>
decltype(auto) enter_region(region& r, basic_context<Order> const& c, F& f) {
  using own = basic_context<Order>;
  fiber& on = context_access::fiber_of(c);
  // Frames of a tier need a context that carries it; contexts of other policies have none.
  if constexpr (std::is_same_v<Order, order::by_tier> || std::is_same_v<Order, order::undivided> ||
                std::is_same_v<Order, order::of_executor>) {
    using tiered =
        std::conditional_t<std::is_same_v<Order, order::of_executor>, context, basic_context<order::by_tier>>;
    if constexpr (callable_plain<F> || callable_with_context<F, tiered>) {
      if (on.order == fork_order::by_tier && on.bound() == nullptr && context_access::mark_of(c) == tier_mark::flat)
        return run_region(r, context_access::make<tiered>(on, context_access::position_of(c)), f);
    }
  }
  if constexpr (may_be_recorded<own>) {
    if (on.order == fork_order::recorded) return run_recorded(r, c, f);
  }
  region_access const in_use{r};
  return call_task(f, c);
}

}  // namespace detail

template <class Order>
template <class F>
decltype(auto) basic_context<Order>::sync_wait(region& r, F&& f) const {
  if (HEIST_UNLIKELY(!fiber_->runs_here())) {
    if (detail::fiber& here = detail::fiber_of_caller(*fiber_); &here != fiber_) {
      if constexpr (std::is_same_v<Order, order::recorded>) {
        detail::recorded_places::without_context const place{here};
        return detail::enter_region(r, basic_context{here, place.position}, f);
      } else {
        return detail::enter_region(r, basic_context{here, detail::position_without_context<basic_context>(here)}, f);
      }
    }
  }
  return detail::enter_region(r, *this, f);
}

template <class Order>
void basic_context<Order>::footprint(std::uint64_t bytes) const noexcept {
  if constexpr (std::is_same_v<Order, order::by_tier> || std::is_same_v<Order, order::of_executor>) {
    if (detail::context_access::mark_of(*this) == detail::tier_mark::profiled)
      detail::context_access::unmarked<detail::profile_frame>(*this)->declare(bytes);
  }
}

}  // namespace heist
