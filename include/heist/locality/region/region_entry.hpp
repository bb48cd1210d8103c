// How a task enters a region.
#pragma once

#include <exception>  // uncaught_exceptions
#include <type_traits>
#include <utility>  // move

#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/executor/context.hpp"
#include "heist/core/executor/task_callable.hpp"
#include "heist/core/extension/loop_region.hpp"
#include "heist/core/fork/fork_extension.hpp"
#include "heist/core/fork/fork_traits.hpp"
#include "heist/core/fork/remote.hpp"
#include "heist/core/scheduler/told_part.hpp"
#include "heist/locality/region/region.hpp"

namespace heist::detail {

/// Tells a visit when the region has been left, and whether by an exception.
class visiting {
 public:
  explicit visiting(unique_ptr<region_visit> v) noexcept : visit_{std::move(v)} {}
  visiting(visiting const&) = delete;
  visiting& operator=(visiting const&) = delete;
  ~visiting() { visit_->finish(std::uncaught_exceptions() != unwinding_); }
  region_visit& operator*() const noexcept { return *visit_; }

 private:
  unique_ptr<region_visit> visit_;
  int const unwinding_ = std::uncaught_exceptions();
};

/// A region that is not divided. Its body gets the context of a parent-first order, if it takes any and the extension has
/// one: then its forks cost as much as under such a policy.
template <class Order, class F>
decltype(auto) call_sequential(basic_context<Order> c, F& f) {
  using own = basic_context<Order>;
  if constexpr (!callable_plain<F> && std::is_base_of_v<order::sequential_by<Order>, order::sequential>) {
    using sequential = basic_context<order::sequential>;
    if constexpr (callable_with_context<F, sequential>) {
      if constexpr (std::is_same_v<task_result<sequential, F>, task_result<own, F>>)
        return call_task(f,
                         context_access::make<sequential>(context_access::fiber_of(c), context_access::position_of(c)));
      else
        return call_task(f, c);
    } else {
      return call_task(f, c);
    }
  } else {
    return call_task(f, c);
  }
}

/// By code that runs where the context `c` belongs. Regions are entered with contexts of type Context.
template <class Context, class Order, class F>
decltype(auto) visit_region(unique_ptr<region_visit> visit, basic_context<Order> const& c, F& f) {
  fiber& self = context_access::fiber_of(c);
  visiting const v{std::move(visit)};
  switch ((*v).how()) {
    case region_way::sequential:
      return static_cast<task_result<Context, F>>(
          call_sequential(context_access::make<Context>(self, context_access::position_of(c)), f));
    case region_way::here:
      return static_cast<task_result<Context, F>>(
          call_task(f, context_access::make<Context>(self, (*v).position(&function_identity<F>))));
    default:
      break;
  }
  child_of<Context, F> body{f};
  (*v).run(body);
  if (body.failed) body.out.rethrow();
  if constexpr (std::is_void_v<task_result<Context, F>>) {
    static_cast<void>(body.out.take());
  } else {
    return static_cast<task_result<Context, F>>(body.out.take());
  }
}

template <class Order, class F>
decltype(auto) enter_region(region& r, basic_context<Order> const& c, F& f) {
  region_access::move_data(r,
                           context_access::make<context>(context_access::fiber_of(c), context_access::position_of(c)));
  told_part const told{context_access::fiber_of(c), &r, r.options().name};
  using traits = fork_traits<Order>;
  if constexpr (traits::has_regions) {
    using inner = typename traits::region_context;
    if constexpr (callable_plain<F> || callable_with_context<F, inner>) {
      fiber& self = context_access::fiber_of(c);
      if (self.scheduler.extension != nullptr) {
        auto visit = extension_of_forks(self).enter(r, self, context_access::position_of(c));
        if (visit != nullptr) return visit_region<inner>(std::move(visit), c, f);
      }
    }
  }
  region_access const in_use{r};
  return call_task(f, c);
}

template <class Order>
struct region_entry {
  template <class F>
  static decltype(auto) enter(region& r, basic_context<Order> const& c, F& f) {
    if constexpr (!accepted<as_called<basic_context<Order>, F>>()) {
      return rejected{};
    } else {
      fiber& self = context_access::fiber_of(c);
      if (HEIST_UNLIKELY(!self.runs_here())) {
        if (fiber& here = fiber_of_caller(self); &here != &self) {
          external_frame<basic_context<Order>> frame{here};
          return enter_region(r, context_access::make<basic_context<Order>>(here, frame.position()), f);
        }
      }
      return enter_region(r, c, f);
    }
  }
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/region/region_entry.ipp"
#endif
