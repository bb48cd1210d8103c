// scope: any number of children, joined together.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>  // forward, move

#include "heist/base/env.hpp"
#include "heist/fork/fork_join.hpp"
#include "heist/memory/block_pool.hpp"
#include "heist/sched/context.hpp"
#include "heist/sched/core.hpp"
#include "heist/sched/core_fibers.hpp"
#include "heist/sync/completion.hpp"

namespace heist {

namespace detail {
/// Marks the children of scopes in deques.
inline constexpr described scope_what{&fork_operations};
}  // namespace detail

/// Forks children that all finish before the scope ends.
///
/// `heist::scope s{ctx}` deduces the context; in a signature write heist::scope<Context>, or heist::scope<> for
/// heist::context.
///
/// Threads  fork() and join() by the task that made it, on whichever worker it is; children may make scopes of their
///          own.
/// Promises join() returns after all children, then rethrows the first exception that one of them threw; the scope may
///          be used again. The destructor joins, and rethrows unless an exception is on its way already.
/// Cost     a child is a block of memory from the worker's pool and, parent-first, a push; when many wait already it is
///          called at once. Child-first it starts at once, on a stack of its own.
template <class Context = context>
class scope {
 public:
  explicit scope(Context const& c) noexcept
      : on_{&detail::context_access::fiber_of(c)}, interrupt_{on_->interrupt}, unwinding_{std::uncaught_exceptions()} {}
  scope(scope const&) = delete;
  scope& operator=(scope const&) = delete;
  ~scope() noexcept(false) {
    wait();
    if (std::uncaught_exceptions() == unwinding_) rethrow();
  }

  /// Starts f() or f(context), which may run before fork() returns, later, or on another worker. Throws bad_alloc, and
  /// stack_error under child-first order.
  template <class F>
  void fork(F&& f) {
    using child = forked<std::decay_t<F>>;
    detail::worker& w = *on_->on;
    if (on_->child_first ? on_->no_migrate != 0 : w.deque.size_snapshot() >= enough_waiting) {
      // The frame must not be taken elsewhere; or everybody finds work already, and a plain call keeps memory bounded.
      // The callable is copied, as it would be.
      std::decay_t<F> here(std::forward<F>(f));
      call(here, *on_);
      return;
    }
    auto* const made = w.blocks.make<child>(std::forward<F>(f), *this);
    if (on_->child_first) {
      if (made->start(*on_) == detail::call_overtaken) ++forked_;
    } else {
      ++forked_;
      w.home.push(w, *made);
    }
  }

  /// Waits for all children; rethrows the first exception.
  void join() {
    wait();
    rethrow();
  }

 private:
  /// As many children as wait in a worker's deque when the next one is called in place.
  static constexpr std::size_t enough_waiting = 4096;

  /// A child in a deque; `in` says whose it is.
  struct waiting_child : detail::runnable {
    scope* in;
  };

  template <class F>
  struct forked final : waiting_child {
    template <class G>
    forked(G&& g, scope& s) : waiting_child{{&run, &detail::scope_what}, &s}, function(std::forward<G>(g)) {}

    /// Parent-first: from a deque.
    static detail::runnable* run(detail::runnable& self, detail::fiber& on) {
      auto* const child = static_cast<forked*>(&self);
      on.on->report_tally();
      scope& in = *child->in;
      {
        detail::interrupted_by const interrupt{on, in.interrupt_};
        in.call(child->function, on);
      }
      on.on->blocks.destroy(child);
      in.child_finished();
      return nullptr;
    }

    /// Child-first: at once, on a fiber of its own.
    int start(detail::fiber& on) {
      frame.parent = &on;
      frame.overtaken = false;
      frame.child = this;
      try {
        return detail::call_child(on, frame, &run_as_child);
      } catch (...) {
        on.on->blocks.destroy(this);
        throw;
      }
    }

    static int run_as_child(void* self, void* fiber_of_child) noexcept {
      forked* const child = static_cast<call_frame*>(static_cast<detail::calling_frame*>(self))->child;
      auto& on = *static_cast<detail::fiber*>(fiber_of_child);
      auto* const at = detail::begin_child(on);
      scope& in = *child->in;
      in.call(child->function, on);
      bool const plain = detail::end_child(on, child->frame, at);
      on.on->blocks.destroy(child);
      if (HEIST_LIKELY(plain)) return detail::child_returned;
      in.child_finished();
      detail::core::leave_child(on);
      return detail::child_returned;
    }

    struct call_frame : detail::calling_frame {
      forked* child;
    };

    F function;
    call_frame frame;
  };

  template <class F>
  void call(F& f, detail::fiber& on) noexcept {
    try {
      static_cast<void>(detail::call_task(f, detail::context_access::make<Context>(on, on.top())));
    } catch (...) {
      // acq_rel: the first one owns exception_
      if (!failed_.exchange(true, std::memory_order_acq_rel)) exception_ = std::current_exception();
    }
  }

  void child_finished() {
    // acq_rel: the last one, and through it join(), sees what all did
    if (outstanding_.fetch_sub(1, std::memory_order_acq_rel) == 1) all_finished_.complete();
  }

  /// Children count `outstanding_` down from 0; the number forked is added when they are waited for, so that forking
  /// touches no shared counter. Whoever brings the sum to 0 completes.
  void wait() {
    if (forked_ == 0) return;
    run_own();
    std::int64_t const added = forked_;
    forked_ = 0;
    // acq_rel: as in child_finished()
    if (outstanding_.fetch_add(added, std::memory_order_acq_rel) != -added) on_->wait_for(all_finished_);
    all_finished_.reset();
  }

  /// Runs children that are still in this worker's deque on top of the waiting frame: they are its own.
  void run_own() {
    while (detail::runnable* const r = on_->on->deque.pop()) {
      if (r->what != &detail::scope_what || static_cast<waiting_child*>(r)->in != this) {
        on_->home.push(*on_->on, *r);
        return;
      }
      r->run(*r, *on_);
    }
  }

  void rethrow() {
    if (failed_.load(std::memory_order_relaxed)) [[unlikely]] {  // relaxed: the children have finished
      failed_.store(false, std::memory_order_relaxed);           // relaxed: as above
      std::rethrow_exception(std::exchange(exception_, nullptr));
    }
  }

  detail::fiber* on_;
  detail::interrupt_state const* interrupt_;
  int unwinding_;
  std::int64_t forked_ = 0;  ///< since the last wait
  os_env::atomic<std::int64_t> outstanding_{0};
  os_env::atomic<bool> failed_{false};
  std::exception_ptr exception_;
  completion all_finished_;
};

template <class Order>
scope(basic_context<Order>) -> scope<basic_context<Order>>;

}  // namespace heist
