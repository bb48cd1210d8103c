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

/// Forks children that all finish before the scope ends.
///
/// Threads  fork() and join() by the task that made it, on whichever worker it is; children may make scopes of their
/// own. Promises join() returns after all children, then rethrows the first exception that one of them threw; the scope
/// may be
///          used again. The destructor joins, and rethrows unless an exception is on its way already.
/// Cost     a child is a block of memory from the worker's pool and a push; when many wait already it is called at
/// once.
class scope {
 public:
  explicit scope(context const& c) noexcept
      : on_{&detail::context_access::fiber_of(c)},
        interrupt_{detail::context_access::interrupt_of(c)},
        unwinding_{std::uncaught_exceptions()} {}
  scope(scope const&) = delete;
  scope& operator=(scope const&) = delete;
  ~scope() noexcept(false) {
    wait();
    if (std::uncaught_exceptions() == unwinding_) rethrow();
  }

  /// Starts f() or f(context), which may run before fork() returns, later, or on another worker.
  template <class F>
  void fork(F&& f) {
    using child = forked<std::decay_t<F>>;
    detail::worker& w = *on_->on;
    if (w.deque.size_snapshot() >= enough_waiting) {
      // Everybody finds work already: a plain call keeps memory bounded. The callable is copied, as it would be.
      std::decay_t<F> here(std::forward<F>(f));
      call(here, *on_);
      return;
    }
    auto* const made = w.blocks.make<child>(std::forward<F>(f), *this);
    ++forked_;
    w.home.push(w, *made);
  }

  /// Waits for all children; rethrows the first exception.
  void join() {
    wait();
    rethrow();
  }

 private:
  /// As many children as wait in a worker's deque when the next one is called in place.
  static constexpr std::size_t enough_waiting = 4096;

  template <class F>
  struct forked final : detail::runnable {
    template <class G>
    forked(G&& g, scope& in) : runnable{&run, &detail::fork_what}, function(std::forward<G>(g)), in{&in} {}

    static detail::runnable* run(detail::runnable& self, detail::fiber& on) {
      auto* const child = static_cast<forked*>(&self);
      on.on->report_tally();
      scope& in = *child->in;
      in.call(child->function, on);
      on.on->blocks.destroy(child);
      in.child_finished();
      return nullptr;
    }

    F function;
    scope* in;
  };

  template <class F>
  void call(F& f, detail::fiber& on) noexcept {
    try {
      static_cast<void>(detail::call_with_context(f, on, interrupt_));
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
    std::int64_t const added = forked_;
    forked_ = 0;
    // acq_rel: as in child_finished()
    if (outstanding_.fetch_add(added, std::memory_order_acq_rel) != -added) on_->wait_for(all_finished_);
    all_finished_.reset();
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

}  // namespace heist
