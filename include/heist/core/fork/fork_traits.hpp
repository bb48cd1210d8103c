// The forks of contexts, by their order; extensions have more of these.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>  // index_sequence

#include "heist/core/base/config.hpp"
#include "heist/core/base/result.hpp"
#include "heist/core/executor/context.hpp"
#include "heist/core/executor/task_callable.hpp"
#include "heist/core/fork/child_first.hpp"
#include "heist/core/fork/fork_extension.hpp"
#include "heist/core/fork/parent_first.hpp"
#include "heist/core/policy/order.hpp"

namespace heist::detail {

/// A fork whose children `run(list)` runs without their types. If it throws, no child has begun.
template <class Context, class Run, class... F>
fork_values<Context, F...> fork_erased(Run&& run, F&... f) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    std::tuple<child_of<Context, F>...> children{f...};
    erased_child* const list[] = {&std::get<I>(children)...};
    run(std::span<erased_child* const>{list});
    return take_all<fork_values<Context, F...>>({std::get<I>(children).failed...}, std::get<I>(children).out...);
  }
  (std::index_sequence_for<F...>{});
}

/// A fork of a frame that belongs to an extension.
template <class Context, class... F>
HEIST_COLD fork_values<Context, F...> fork_as_extension_decides(fiber& self, fork_slot* position, bool divide,
                                                                F&... f) {
  fork_extension& extension = extension_of_forks(self);
  place_to_fork const place = extension.way_of_fork(self, position, divide);
  switch (place.how) {
    case fork_way::parent_first:
      return parent_first_fork<Context, F...>::run(*place.on, place.position, f...);
    case fork_way::child_first:
      return child_first_fork<Context, F...>::run(*place.on, place.position, f...);
    default:
      return fork_erased<Context>([&](auto children) { extension.fork(*place.on, place.position, children); }, f...);
  }
}

/// Asks whether callables can be forked before anything deeper looks at them.
template <class Order>
struct checked_fork {
  template <class Context, class... F>
  HEIST_ALWAYS_INLINE static auto fork_join(Context const& c, F&&... f) {
    if constexpr ((accepted<as_forked<Context, forked_callable<F>>>() && ...)) {
      return fork_traits<Order>::fork_join(c, static_cast<F&&>(f)...);
    } else {
      return std::tuple<rejected_result<F>...>{};
    }
  }
  template <class Context, class... F>
  static auto inter_fork(Context const& c, F&&... f) {
    if constexpr ((accepted<as_forked<Context, forked_callable<F>>>() && ...)) {
      return fork_traits<Order>::inter_fork(c, static_cast<F&&>(f)...);
    } else {
      return std::tuple<rejected_result<F>...>{};
    }
  }
};

/// The traits of contexts that belong to no extension.
struct plain_traits {
  /// Their positions have marks.
  static constexpr bool has_marks = false;
  /// Their frames may belong to an extension.
  static constexpr bool has_extension = false;
  /// Regions are more than a call to them; then `region_context` is what a region's body gets.
  static constexpr bool has_regions = false;

  template <class Context>
  static void footprint(Context const&, std::uint64_t) noexcept {}
  template <class Context>
  static void assign_continuation(Context const& c, std::size_t worker) {
    check_assigned(context_access::fiber_of(c), worker);
  }
  template <class Context>
  static bool may_be_stolen(Context const&) noexcept {
    return true;
  }
};

template <>
struct fork_traits<order::parent_first> : plain_traits {
  /// How their scopes' children start.
  static constexpr fork_way way_of_scope(fiber&, fork_slot*) noexcept { return fork_way::parent_first; }

  template <class Context, class... F>
  HEIST_ALWAYS_INLINE static auto fork_join(Context const& c, F&&... f) {
    return parent_first_fork<Context, forked_callable<F>...>::run(context_access::fiber_of(c),
                                                                  context_access::position_of(c), f...);
  }
  template <class Context, class... F>
  static auto inter_fork(Context const& c, F&&... f) {
    return fork_join(c, static_cast<F&&>(f)...);
  }
};

template <>
struct fork_traits<order::child_first> : plain_traits {
  static constexpr fork_way way_of_scope(fiber&, fork_slot*) noexcept { return fork_way::child_first; }

  template <class Context, class... F>
  HEIST_ALWAYS_INLINE static auto fork_join(Context const& c, F&&... f) {
    return child_first_fork<Context, forked_callable<F>...>::run(context_access::fiber_of(c),
                                                                 context_access::position_of(c), f...);
  }
  template <class Context, class... F>
  static auto inter_fork(Context const& c, F&&... f) {
    return fork_join(c, static_cast<F&&>(f)...);
  }
};

/// Does a frame of such a mark on `self` fork parent-first, by a context that leaves the order to the executor? One
/// comparison where that is the executor's order, two more outside of the tiers of one that has any.
HEIST_ALWAYS_INLINE bool forks_parent_first(fiber const& self, position_mark mark) noexcept {
  return self.order == fork_order::parent_first || (self.order == fork_order::by_tier && mark == position_mark::plain);
}

/// A fork of such a context whose order has to be asked for. Apart, and with a copy of the context, for the sake of those
/// that are parent-first.
template <class Context, class... F>
HEIST_COLD fork_values<Context, F...> fork_fallback(Context c, bool divide, in_register<F>... f) {
  fiber& self = context_access::fiber_of(c);
  fork_slot* const position = context_access::position_of(c);
  if (forks_parent_first(self, context_access::mark_of(c)))
    return parent_first_fork<Context, F...>::run(self, position, f...);
  if (self.order == fork_order::child_first ||
      (self.order == fork_order::by_tier && context_access::mark_of(c) == position_mark::child_first))
    return child_first_fork<Context, F...>::run(self, position, f...);
  return fork_as_extension_decides<Context, F...>(self, position, divide, f...);
}

template <>
struct fork_traits<order::of_executor> {
  static constexpr bool has_marks = true, has_extension = true, has_regions = true;
  using region_context = context;

  static fork_way way_of_scope(fiber& self, fork_slot* position) noexcept {
    if (forks_parent_first(self, context_access::mark_at(position))) return fork_way::parent_first;
    if (self.order == fork_order::child_first) return fork_way::child_first;
    return extension_of_forks(self).way_of_scope(self, position);
  }

  template <class Context, class... F>
  HEIST_ALWAYS_INLINE static auto fork_join(Context const& c, F&&... f) {
    fiber& self = context_access::fiber_of(c);
    if (HEIST_LIKELY(forks_parent_first(self, context_access::mark_of(c))))
      return parent_first_fork<Context, forked_callable<F>...>::run(self, context_access::position_of(c), f...);
    return fork_fallback<Context, forked_callable<F>...>(c, false, f...);
  }
  template <class Context, class... F>
  static auto inter_fork(Context const& c, F&&... f) {
    if (forks_parent_first(context_access::fiber_of(c), context_access::mark_of(c)))
      return fork_join(c, static_cast<F&&>(f)...);
    return fork_fallback<Context, forked_callable<F>...>(c, true, f...);
  }

  // These three are about the frame of the context: nothing to code that runs elsewhere.
  template <class Context>
  static void footprint(Context const& c, std::uint64_t bytes) noexcept {
    fiber& self = context_access::fiber_of(c);
    if (self.scheduler.extension != nullptr && self.runs_here())
      extension_of_forks(self).footprint(context_access::position_of(c), bytes);
  }
  template <class Context>
  static void assign_continuation(Context const& c, std::size_t worker) {
    fiber& self = context_access::fiber_of(c);
    check_assigned(self, worker);
    if (self.scheduler.extension != nullptr && self.runs_here())
      extension_of_forks(self).assign_continuation(self, context_access::position_of(c), worker);
  }
  template <class Context>
  static bool may_be_stolen(Context const& c) noexcept {
    fiber& self = context_access::fiber_of(c);
    return self.scheduler.extension == nullptr || !self.runs_here() ||
           extension_of_forks(self).may_be_stolen(context_access::position_of(c));
  }
};

}  // namespace heist::detail
