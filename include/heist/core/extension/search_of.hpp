// What a policy adds to the search of workers.
#pragma once

#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/extension/executor_extension.hpp"
#include "heist/core/policy/order.hpp"
#include "heist/fwd.hpp"

namespace heist::detail {

struct runnable;

/// How a worker searches beyond its deque and its victims. This one does not; others derive from it and hide the
/// functions that they replace. `Loop`: worker_loop<...>.
struct no_search {
  /// It looks for work by itself, in look() and last_resort().
  static constexpr bool looks = false;
  /// Continuations are stolen within worker::group only.
  static constexpr bool in_groups = false;
  /// A worker without tasks takes requests before it looks at other workers.
  static constexpr bool requests_first = true;
  /// It wants to know the executor's options: keep_options(core&, options const&), before the workers start.
  static constexpr bool keeps_options = false;
  /// The machine is examined before the workers start.
  static constexpr bool examines_machine = false;
  /// There is mail (core::give).
  static constexpr bool has_mail = false;
  /// The data that a worker keeps for it.
  template <class Victim>
  struct per_worker {};

  /// The extension that it adds to the executor. Null if it adds none.
  template <class Scheduler>
  static unique_ptr<executor_extension> make(core&) {
    return nullptr;
  }

  /// Returns the worker's next runnable: `t` is from its own deque, or null.
  static runnable* next(worker&, runnable* t) noexcept { return t; }
  static void search_begins(worker&) noexcept {}
  static void search_ends(worker&) noexcept {}  ///< with something
  static void falls_asleep(worker&) noexcept {}
  static void is_awake(worker&) noexcept {}

  /// Is there something that only this worker takes, or it before all other workers?
  static bool called(worker const&) noexcept { return false; }
  /// Before the first attempt to steal, and before each.
  template <class Loop>
  static runnable* look_first(fiber&) {
    return nullptr;
  }
  template <class Loop>
  static runnable* look(fiber&) {
    return nullptr;
  }
  /// Of how many attempts of a worker without tasks one is at a victim of all workers. The others are look() alone.
  static std::uint32_t far_attempts(worker const&) noexcept { return 1; }
  /// Called after many failed attempts.
  template <class Loop>
  static runnable* last_resort(fiber&) {
    return nullptr;
  }
};

/// Extensions specialise it for their policies.
template <class Policy>
struct search_of {
  static_assert(Policy::order_type::value == fork_order::parent_first ||
                    Policy::order_type::value == fork_order::child_first,
                "heist: executor<Policy> needs the header of this policy; fix it by #include <heist/locality.hpp>, or "
                "<heist/tiers.hpp> for policy::cab and policy::cats, <heist/replay.hpp> for policy::replay.");
  using type = no_search;
};

/// The context that its executor's tasks get when they take one as `auto`.
template <class Policy>
struct context_of {
  using type = basic_context<typename Policy::order_type>;
};

}  // namespace heist::detail
