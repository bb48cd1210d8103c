// The context that a meter sees a program through, and its scope: one for work and span, and for recordings.
#pragma once

#include <concepts>
#include <cstddef>  // size_t
#include <cstdint>
#include <type_traits>
#include <utility>  // forward

#include "heist/core/executor/blocking.hpp"
#include "heist/core/executor/context.hpp"
#include "heist/core/fork/fork_join.hpp"
#include "heist/core/fork/scope.hpp"
#include "heist/fwd.hpp"
#include "heist/locality/region/region.hpp"
#include "heist/locality/region/region_entry.hpp"

namespace heist {

/// A context that does what `Context` does while a meter looks on; a task gets it from measure_work_span() or
/// record_program(), its children from it. A kernel that takes its context as a template parameter, or as `auto`, need
/// not know. Passed by value.
///
/// Threads  as Context. Coverage and cost: see work_span.hpp and program_recording.hpp.
/// Promises submitted tasks, graphs and heist::fork_join() without a context are not measured: a strand that waits for
/// them, or blocks, counts the time.
template <class Context, class Tracker>
class instrumented_context {
 public:
  using inner_context = Context;
  using scope = heist::scope<instrumented_context>;

  instrumented_context(Context const& c, Tracker& tracker) noexcept : context_{c}, tracker_{&tracker} {}
  /// The same task, where another context is made from its own.
  template <class Other>
  requires(!std::same_as<Other, Context> && std::convertible_to<Other const&, Context>)
      instrumented_context(instrumented_context<Other, Tracker> const& other)
  noexcept : context_{other.context_}, tracker_{other.tracker_} {}

  std::size_t worker_id() const noexcept { return context_.worker_id(); }
  std::size_t squad_id() const { return context_.squad_id(); }
  bool stop_requested() const noexcept { return context_.stop_requested(); }
  bool may_be_stolen() const noexcept { return context_.may_be_stolen(); }
  void assign_continuation(std::size_t worker) const { context_.assign_continuation(worker); }

  /// Counts for the task, and is passed on.
  void footprint(std::uint64_t bytes) const noexcept {
    tracker_->footprint(bytes);
    context_.footprint(bytes);
  }

  template <class... F>
  auto fork_join(F&&... f) const {
    static_assert(sizeof...(F) > 0, "heist: fork_join needs at least one callable.");
    return tracker_->fork([this](auto... children) { return context_.fork_join(children...); }, f...);
  }
  template <class... F>
  auto inter_fork(F&&... f) const {
    static_assert(sizeof...(F) > 0, "heist: inter_fork needs at least one callable.");
    return tracker_->fork([this](auto... children) { return context_.inter_fork(children...); }, f...);
  }

  /// As Context's. Of a recording it is a run, if the outermost task enters it while no scope of its own is at work.
  template <class F>
  decltype(auto) invoke(region& r, F&& f) const {
    return tracker_->enter(context_, r, f);
  }

  template <class F>
  decltype(auto) blocking(F&& f) const {
    return context_.blocking(std::forward<F>(f));
  }

  /// As Context's, in each of its forms; the task gets a context of this kind, with a meter that is not asked.
  template <class F>
  auto submit(F&& f) const {
    return context_.submit(tracker_->unseen(std::forward<F>(f)));
  }
  template <class How, class F>
  auto submit(How&& how, F&& f) const {
    return context_.submit(std::forward<How>(how), tracker_->unseen(std::forward<F>(f)));
  }
  template <class How, class Next, class F>
  auto submit(How&& how, Next&& next, F&& f) const {
    return context_.submit(std::forward<How>(how), std::forward<Next>(next), tracker_->unseen(std::forward<F>(f)));
  }
  template <class How, class Next, class Last, class F>
  auto submit(How&& how, Next&& next, Last&& last, F&& f) const {
    return context_.submit(std::forward<How>(how), std::forward<Next>(next), std::forward<Last>(last),
                           tracker_->unseen(std::forward<F>(f)));
  }

  template <class Graph, class... Options>
  auto run(Graph& graph, Options&&... options) const {
    return context_.run(graph, std::forward<Options>(options)...);
  }

  /// The context that this one wraps. Work through the wrapped context is one strand.
  Context const& unmetered() const noexcept { return context_; }

 private:
  template <class, class>
  friend class instrumented_context;
  template <class>
  friend class heist::scope;

  Context context_;
  Tracker* tracker_;
};

/// The scope of a context that is metered; its children fork into scopes of their own.
template <class Context, class Tracker>
class scope<instrumented_context<Context, Tracker>> {
 public:
  explicit scope(instrumented_context<Context, Tracker> const& c) noexcept
      : context_{c.context_}, part_{*c.tracker_}, inner_{c.context_} {}
  scope(scope const&) = delete;
  scope& operator=(scope const&) = delete;
  ~scope() noexcept(false) { part_.leave(); }  // then inner_ waits, then part_ counts

  template <class F>
  void fork(F&& f) {
    part_.fork(inner_, context_.worker_id(), std::forward<F>(f));
  }
  void join() { part_.join(inner_); }
  void request_stop() noexcept { inner_.request_stop(); }

 private:
  Context context_;
  typename Tracker::scope_part part_;
  scope<Context> inner_;
};

template <class Context, class Tracker>
scope(instrumented_context<Context, Tracker>) -> scope<instrumented_context<Context, Tracker>>;

namespace detail {

/// True if a task that is metered can be called, with these values.
template <class F, class Context, class... Values>
inline constexpr bool can_be_instrumented =
    callable_plain<F, Values...> || callable_with_context<F, Context, Values...>;

/// Calls f(values...), or f(context, values...) with a context that `tracker` looks through.
template <class Context, class Tracker, class F, class... Values>
decltype(auto) call_instrumented(F& f, Context const& c, Tracker& tracker, Values&&... values) {
  using instrumented = instrumented_context<Context, Tracker>;
  if constexpr (callable_plain<F, Values...>) {
    return f(std::forward<Values>(values)...);
  } else {
    static_assert(can_be_instrumented<F, instrumented, Values...>,
                  "heist: a task that is measured or recorded must be callable as f() or f(context) with the measuring "
                  "context; fix it by taking the context as auto or as a template parameter.");
    return f(instrumented{c, tracker}, std::forward<Values>(values)...);
  }
}

}  // namespace detail
}  // namespace heist
