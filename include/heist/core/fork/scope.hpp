// scope: any number of children, joined together.
#pragma once

#include <exception>
#include <memory>  // addressof
#include <type_traits>
#include <utility>  // forward

#include "heist/core/base/config.hpp"
#include "heist/core/executor/context.hpp"
#include "heist/core/executor/pooled.hpp"
#include "heist/core/executor/task_callable.hpp"
#include "heist/core/fork/fork_traits.hpp"
#include "heist/core/fork/remote.hpp"
#include "heist/core/fork/scope_base.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/fwd.hpp"

namespace heist {

/// Forks children that all finish before the scope ends.
///
/// `heist::scope s{ctx}` deduces the context; a signature has heist::scope<Context>, or heist::scope<> for any.
///
/// Threads  join() by the task that made it, on whichever worker it is. fork() by that task, and by the children and
///          their descendants, until they have ended. request_stop() by any thread while the scope lives.
/// Promises join() returns after all children, then rethrows the first exception that one of them threw; the scope may
///          be used again. The destructor joins, and rethrows unless an exception is on its way already.
/// Cost     a child is a block of memory from the worker's pool and, parent-first, a push. When many wait already it is
///          called at once. Child-first it starts at once, on a stack of its own. A policy with memory may keep
///          children until join() and deal them out together.
template <class Context>
class scope {
  using traits = detail::fork_traits<typename Context::order_type>;
  using way = detail::fork_way;

 public:
  explicit scope(Context const& c) noexcept : scope{detail::callers_context<Context>{c}} {}
  /// Of the calling task, where no context is at hand: heist::scope<> s; Throws executor_error outside of all tasks.
  scope() requires std::is_same_v<Context, context> : scope{detail::context_of_caller("heist::scope")} {}
  scope(scope const&) = delete;
  scope& operator=(scope const&) = delete;
  ~scope() noexcept(false) {
    base_.wait();
    if (base_.failed() && std::uncaught_exceptions() == unwinding_) base_.rethrow();
  }

  /// Starts f() or f(context), which may run before fork() returns, later, or on another worker. Throws bad_alloc, and
  /// stack_error under child-first order. After request_stop() it does nothing.
  template <class F>
  HEIST_ALWAYS_INLINE void fork(F&& f) {
    if constexpr (detail::accepted<detail::as_child<Context, F>>())
      fork_accepted(std::forward<F>(f), detail::enough_waiting);
  }
  /// As fork(), but under parent-first order `f` never runs before post() returns, however many children wait: the
  /// caller may hold a lock that it takes.
  template <class F>
  void post(F&& f) {
    if constexpr (detail::accepted<detail::as_child<Context, F>>()) fork_accepted(std::forward<F>(f), ~std::size_t{0});
  }

  /// Children that have not begun are skipped: their callables are destroyed without being called. Those that run see
  /// context::stop_requested(), as do their descendants, and their context::stop_token() is asked to stop. A
  /// future or run that a child has started and waits for is asked as well. Ends with the next join(); then the scope
  /// may be used again. A call that overlaps with that join() may stop children that are forked after it as well.
  void request_stop() noexcept { base_.request_stop(); }

  /// Waits for all children; rethrows the first exception.
  void join() { base_.join(); }

 private:
  explicit scope(detail::callers_context<Context> const& from) noexcept
      : base_{detail::context_access::fiber_of(from.context), detail::context_access::position_of(from.context),
              traits::way_of_scope(detail::context_access::fiber_of(from.context),
                                   detail::context_access::position_of(from.context)),
              from.remote} {}

  /// It is called at once where `most` wait already.
  template <class F>
  void fork_accepted(F&& f, std::size_t most) {
    using child = forked<std::decay_t<F>>;
    detail::fiber& self = *base_.on;
    if (HEIST_UNLIKELY(!self.runs_here() || base_.waits)) return fork_remote(std::forward<F>(f), most);
    if (HEIST_UNLIKELY(base_.stopped())) return;
    if (HEIST_UNLIKELY(self.worker->notification.is_set())) self.handle_notification();  // requests from outside
    if constexpr (traits::has_extension) {
      if (HEIST_UNLIKELY(base_.way == way::by_extension)) return fork_in_extension(std::forward<F>(f));
    }
    bool const child_first = base_.way == way::child_first;
    if (child_first ? self.no_migrate != 0 : self.worker->deque.size_snapshot() >= most) {
      // The frame must not be taken elsewhere; or all workers find work already, and memory stays bounded. A copy, as
      // else.
      std::decay_t<F> here(std::forward<F>(f));
      base_.call_child(
          self, [&](detail::fiber& there, detail::fork_slot* position) { call_in(base_, here, there, position); });
      return;
    }
    auto* const made = detail::make_pooled<child>(self, std::forward<F>(f), base_);
    if (child_first) {
      base_.start(*made);
    } else {
      ++base_.forked;
      self.scheduler.push(*self.worker, static_cast<detail::runnable&>(*made));
    }
  }

  template <class F>
  struct forked final : detail::scope_child {
    template <class G>
    forked(G&& g, detail::scope_base& s) : scope_child{&run, s, operations}, function{std::forward<G>(g)} {}

    /// From a deque.
    static detail::runnable* run(detail::runnable& task, detail::fiber& self) {
      auto& child = static_cast<forked&>(task);
      self.worker->report_pending_count();
      detail::scope_base& in = *child.in;
      if (!in.stopped()) {
        in.call_child(self, [&](detail::fiber& here, detail::fork_slot* position) {
          scope::call_in(in, child.function.get(), here, position);
        });
      }
      child.function.end();
      detail::destroy_pooled(self, &child);
      in.joined.ended();
      return nullptr;
    }

    static void call_at(scope_child& task, detail::fiber& self, detail::fork_slot* position) noexcept {
      scope::call_in(*task.in, static_cast<forked&>(task).function.get(), self, position);
    }
    static void end_of(scope_child& self) noexcept { static_cast<forked&>(self).function.end(); }
    static void free_of(scope_child& task, detail::fiber& self) noexcept {
      detail::destroy_pooled(self, &static_cast<forked&>(task));
    }
    static constexpr detail::scope_child_operations operations{&call_at, &end_of, &free_of,
                                                               &detail::function_identity<F>};

    detail::callable_slot<F> function;
  };

  /// A callable that is not kept, for an extension.
  template <class F>
  struct called final : detail::erased_child {
    called(F& f, detail::scope_base& s) noexcept
        : erased_child{&run, &detail::function_identity<F>}, function{std::addressof(f)}, in{&s} {}
    static void run(erased_child& task, detail::fiber& self, detail::fork_slot* position) noexcept {
      auto& child = static_cast<called&>(task);
      scope::call_in(*child.in, *child.function, self, position);
    }
    F* function;
    detail::scope_base* in;
  };

  template <class F>
  HEIST_COLD void fork_in_extension(F&& f) {
    detail::extension_scope& children = base_.of_extension();
    if (children.calls_at_once()) {
      std::decay_t<F> here(std::forward<F>(f));
      called<std::decay_t<F>> child{here, base_};
      children.call_at_once(child);
      return;
    }
    children.fork(*detail::make_pooled<forked<std::decay_t<F>>>(*base_.on, std::forward<F>(f), base_));
  }

  /// For a child or its descendant, which runs on another fiber than the frame, or on top of the frame while the frame
  /// waits. Leaves alone the fields that only the frame may change.
  template <class F>
  HEIST_COLD void fork_remote(F&& f, std::size_t most) {
    detail::fiber& here = detail::fiber_of_caller(*base_.on);
    if (&here == base_.on && !base_.waits) return fork_accepted(std::forward<F>(f), most);
    if (base_.stopped()) return;
    bool const may_queue =
        here.scheduler.extension == nullptr || detail::extension_of_forks(here).may_queue(here, base_.way);
    if (may_queue && &here.scheduler == &base_.on->scheduler && here.worker->deque.size_snapshot() < most) {
      auto* const made = detail::make_pooled<forked<std::decay_t<F>>>(here, std::forward<F>(f), base_);
      base_.joined.one_more();
      here.scheduler.push(*here.worker, static_cast<detail::runnable&>(*made));
      return;
    }
    // An extension keeps the forks of its tasks, or knows children by their frames. Or this is another executor, to which
    // an extension has given the body: it is part of its caller.
    std::decay_t<F> callable(std::forward<F>(f));
    detail::external_frame<Context> frame{here};
    call_in(base_, callable, here, frame.position());
  }

  template <class F>
  static void call_in(detail::scope_base& in, F& f, detail::fiber& self, detail::fork_slot* position) noexcept {
    try {
      static_cast<void>(detail::call_task(f, detail::context_access::make<Context>(self, position)));
    } catch (...) {
      in.keep_exception();
    }
  }

  detail::scope_base base_;
  int const unwinding_ = std::uncaught_exceptions();
};

template <class Order>
scope(basic_context<Order>) -> scope<basic_context<Order>>;

}  // namespace heist
