// scope: any number of children, joined together.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>  // addressof
#include <optional>
#include <type_traits>
#include <utility>  // exchange, forward, move

#include "heist/base/env.hpp"
#include "heist/fork/counted_join.hpp"
#include "heist/fork/elsewhere.hpp"
#include "heist/fork/fork_join.hpp"
#include "heist/fork/recorded.hpp"
#include "heist/fork/scope_groups.hpp"
#include "heist/fork/scope_way.hpp"
#include "heist/fork/tier_fork.hpp"
#include "heist/sched/context.hpp"
#include "heist/sched/core.hpp"
#include "heist/sched/interrupt.hpp"
#include "heist/sched/pooled.hpp"

namespace heist {

namespace detail {
/// Marks the children of scopes in deques.
inline constexpr described scope_what{&fork_operations};
}  // namespace detail

/// Forks children that all finish before the scope ends.
///
/// `heist::scope s{ctx}` deduces the context; a signature has heist::scope<Context>, or heist::scope<> for any.
///
/// Threads  join() by the task that made it, on whichever worker it is. fork() by that task, and by the children and
///          what they fork, until they have ended. request_stop() by any thread while the scope lives.
/// Promises join() returns after all children, then rethrows the first exception that one of them threw; the scope may
///          be used again. The destructor joins, and rethrows unless an exception is on its way already.
/// Cost     a child is a block of memory from the worker's pool and, parent-first, a push; when many wait already it is
///          called at once. Child-first it starts at once, on a stack of its own. In the inter-squad tier (cab and
///          cats) children are dealt to squads in groups (policy/README.md, "Flat scopes"), at join() at the latest.
template <class Context>
class scope {
 public:
  explicit scope(Context const& c) noexcept : scope{detail::callers_context<Context>{c}} {}
  scope(scope const&) = delete;
  scope& operator=(scope const&) = delete;
  ~scope() noexcept(false) {
    wait();
    if (failed() && std::uncaught_exceptions() == unwinding_) rethrow();
  }

  /// Starts f() or f(context), which may run before fork() returns, later, or on another worker. Throws bad_alloc, and
  /// stack_error under child-first order. After request_stop() it does nothing.
  template <class F>
  void fork(F&& f) {
    using child = forked<std::decay_t<F>>;
    if (HEIST_UNLIKELY(!on_->runs_here() || waits_)) return fork_elsewhere(std::forward<F>(f));
    if (HEIST_UNLIKELY(stopped())) return;
    if (HEIST_UNLIKELY(on_->on->attention.raised())) on_->attend();  // requests from outside
    if constexpr (detail::may_be_recorded<Context>) {
      if (detail::records(*on_) && detail::recorded_places::is_special(position_)) [[unlikely]]
        return fork_followed(std::forward<F>(f));
    }
    if (starts(way::child_first) ? on_->no_migrate != 0
        : starts(way::in_place)  ? true
                                 : !starts(way::squads) && on_->on->deque.size_snapshot() >= detail::enough_waiting) {
      // The frame must not be taken elsewhere; or everybody finds work already, and memory stays bounded. A copy, as
      // else.
      std::decay_t<F> here(std::forward<F>(f));
      detail::profile_pause const paused = pause();
      call(here, *on_, next_index(), starts(way::child_first));
      return;
    }
    auto* const made = detail::make_pooled<child>(*on_, std::forward<F>(f), *this, next_index());
    if (starts(way::child_first)) {
      forked_ += made->start(*on_) == detail::call_overtaken;
    } else if (starts(way::squads)) {
      dealt().add(*made);
    } else {
      ++forked_;
      on_->home.push(*on_->on, *made);
    }
  }

  /// Children that have not begun are skipped: their callables are destroyed without being called. Those that run see
  /// context::stop_requested(), as does all that they fork. Ends with the next join(); then the scope may be used
  /// again.
  void request_stop() noexcept { stop_.why.store(1, std::memory_order_relaxed); }  // relaxed: advice

  /// Waits for all children; rethrows the first exception.
  void join() {
    wait();
    rethrow();
  }

 private:
  template <class>
  friend struct detail::child_group;

  using way = detail::scope_way;
  bool starts(way w) const noexcept { return detail::may_start<Context>(w) && way_ == w; }

  explicit scope(detail::callers_context<Context> const& from) noexcept
      : on_{&detail::context_access::fiber_of(from.context)},
        position_{root_.position_of(from.context)},
        unwinding_{std::uncaught_exceptions()},
        // Without a place in a run that records, nothing may be stolen from it.
        way_{from.elsewhere && detail::records(*on_) ? way::in_place : detail::way_of_scope(from.context)} {
    if (detail::interrupt_state const* const outer = on_->interrupt; outer != nullptr) {
      stop_.outer = outer;
      stop_.bound = outer->bound;
      stop_.stays = outer->stays;
    }
  }

  /// The child's place among those of its parent.
  std::uint32_t next_index() noexcept {
    if constexpr (detail::may_be_recorded<Context>) {
      if (detail::records(*on_)) {
        unjoined_ = true;
        return detail::recorded_places::reserve(position_, 1);
      }
    }
    if (starts(way::measured)) return frame<detail::profile_frame>().spawn(1);
    return starts(way::squads) ? frame<detail::inter_frame>().spawned++ : 0;
  }

  template <class T>
  T& frame() const noexcept {
    return *detail::context_access::unmarked<T>(detail::context_access::make<Context>(*on_, position_));
  }

  using waiting_child = detail::scope_child<Context>;

  template <class F>
  struct forked final : waiting_child {
    template <class G>
    forked(G&& g, scope& s, std::uint32_t number)
        : waiting_child{{&run, &detail::scope_what}, &s, number, &begin_in, nullptr}, function{std::forward<G>(g)} {}

    /// Parent-first: from a deque.
    static detail::runnable* run(detail::runnable& self, detail::fiber& on) {
      auto* const child = static_cast<forked*>(&self);
      on.on->report_tally();
      scope& in = *child->in;
      if (!in.stopped()) in.call(child->function.get(), on, child->index, false);
      child->discard(on);
      in.joined_.ended();
      return nullptr;
    }

    /// It will not be called, or has been.
    void discard(detail::fiber& on) noexcept {
      function.end();
      detail::destroy_pooled(on, this);
    }

    /// Child-first: at once, on a fiber of its own.
    int start(detail::fiber& on) {
      frame.parent = &on;
      frame.overtaken = false;
      frame.child = this;
      detail::enter_branch(frame, this->in->position_, this->index);
      try {
        return detail::call_child(on, frame, &run_as_child);
      } catch (...) {
        discard(on);
        throw;
      }
    }

    static int run_as_child(void* self, void* fiber_of_child) noexcept {
      forked* const child = static_cast<call_frame*>(static_cast<detail::calling_frame*>(self))->child;
      auto& on = *static_cast<detail::fiber*>(fiber_of_child);
      auto* const at = detail::begin_child(on);
      scope& in = *child->in;
      in.call(child->function.get(), on, child->index, true);
      child->function.end();  // it may wait; once the caller has been given back nothing may
      bool const plain = detail::end_child(on, child->frame, at);
      if constexpr (detail::may_be_recorded<Context>) {
        if (!plain && detail::records(on)) detail::recorded_places::ended(child->frame);
      }
      detail::destroy_pooled(on, child);
      if (HEIST_LIKELY(plain)) return detail::child_returned;
      in.joined_.ended();
      detail::core::leave_child(on);
      return detail::child_returned;
    }

    /// In an inter-squad task: alone it is called; in a group (`in` is the group's scope) it starts child-first.
    static void begin_in(waiting_child& self, scope& in, Context c) {
      auto* const child = static_cast<forked*>(&self);
      detail::fiber& on = detail::context_access::fiber_of(c);
      if (child->in->stopped()) return child->discard(on);
      if (&in != child->in) {
        child->in = &in;
        if (on.no_migrate == 0 && detail::may_start_child(*on.on)) {
          if (child->start(on) == detail::call_overtaken) ++in.forked_;
        } else {
          in.call(child->function.get(), on, child->index, true);
          child->discard(on);
        }
        return;
      }
      in.call_in(child->function.get(), c);
      child->discard(on);
    }

    struct call_frame : detail::frame_that_calls<Context> {
      forked* child;
    };

    /// Of a frame that follows a steal tree.
    struct followed : detail::followed_frame {
      template <class G>
      followed(G&& g, scope& s) : in{s}, function{std::forward<G>(g)} {}
      static followed& of(void* frame) noexcept {
        return *static_cast<followed*>(static_cast<detail::calling_frame*>(frame));
      }
      detail::counted_join& join() const noexcept { return in.joined_; }
      void release(detail::fiber& on) noexcept { detail::destroy_pooled(on, this); }
      void call(detail::fiber& on, detail::frame_record& of_child) noexcept {
        {
          detail::interrupted_above const part_of{on, &in.stop_};
          in.call_in(function.get(),
                     detail::context_access::make<Context>(on, detail::recorded_places::position_of(of_child)));
        }
        function.end();
      }

      scope& in;
      detail::callable_slot<F> function;
    };

    detail::callable_slot<F> function;
    call_frame frame;
  };

  /// Of a frame that follows a steal tree or has designated, or that has nothing to steal below.
  template <class F>
  HEIST_COLD void fork_followed(F&& f) {
    using child = typename forked<std::decay_t<F>>::followed;
    detail::frame_record& record = *detail::recorded_places::record_of(position_);
    if ((record.forks & detail::frame_record::serial) != 0) {
      std::decay_t<F> here(std::forward<F>(f));
      detail::interrupted_above const part_of{*on_, &stop_};
      return call_in(here, detail::context_access::make<Context>(*on_, position_));
    }
    unjoined_ = true;
    detail::followed_parent parent{*on_, record, 1};
    auto* const made = detail::make_pooled<child>(*on_, std::forward<F>(f), *this);
    try {
      if (detail::followed_start<child>::start(*on_, parent, *made, false)) ++forked_;
    } catch (region_error const&) {  // a designation that is not valid
      made->function.end();
      detail::destroy_pooled(*on_, made);
      throw;
    }
  }

  /// By a child, or what that has forked, which runs on another fiber than the frame, or on top of the frame while that
  /// waits; what only the frame may change is left alone.
  template <class F>
  HEIST_COLD void fork_elsewhere(F&& f) {
    using child = forked<std::decay_t<F>>;
    detail::fiber& here = detail::fiber_of_caller(*on_);
    if (&here == on_ && !waits_) return fork(std::forward<F>(f));
    if (stopped()) return;
    bool const by_deque =
        here.order == fork_order::by_tier ? starts(way::deque) && here.bound() == nullptr : !detail::records(here);
    if (by_deque && here.on->deque.size_snapshot() < detail::enough_waiting) {
      auto* const made = detail::make_pooled<child>(here, std::forward<F>(f), *this, 0u);
      joined_.one_more();
      here.home.push(*here.on, *made);
      return;
    }
    // A squad keeps what its task forks, and records and profiles know children by their frames: it is part of its
    // caller.
    std::decay_t<F> callable(std::forward<F>(f));
    if constexpr (std::is_same_v<Context, basic_context<order::recorded>>) {
      detail::recorded_places::without_context const place{here};
      call_in(callable, detail::context_access::make<Context>(here, place.position));
    } else {
      call_in(callable, detail::callers_context<Context>::without(here));
    }
  }

  template <class F>
  void call(F& f, detail::fiber& on, std::uint32_t index, bool child_first) noexcept {
    using access = detail::context_access;
    detail::fork_slot* const top = on.top();
    detail::interrupted_above const part_of{on, top, &stop_};
    if constexpr (detail::may_be_recorded<Context>) {
      if (detail::records(on)) {
        detail::frame_record place;
        detail::fork_slot* const there = detail::recorded_places::enter(place, position_, index);
        return call_in(f, access::make<Context>(on, there));
      }
    }
    bool const intra = child_first && on.order == fork_order::by_tier;
    Context const c = access::make<Context>(on, intra ? access::marked(top, detail::tier_mark::intra) : top);
    if (starts(way::measured)) [[unlikely]] {
      auto& parent = frame<detail::profile_frame>();
      detail::profiled_child<Context, F> measured{std::addressof(f), &parent.run(), parent.task(), index};
      call_in(measured, c);
    } else {
      call_in(f, c);
    }
  }
  template <class F>
  void call_in(F& f, Context c) noexcept {
    try {
      static_cast<void>(detail::call_task(f, c));
    } catch (...) {
      // acq_rel: the first one owns exception_
      if (!failed_.exchange(true, std::memory_order_acq_rel)) exception_ = detail::exception_of_task();
    }
  }

  /// While children run in the place of a frame that is measured.
  detail::profile_pause pause() noexcept {
    return detail::profile_pause{starts(way::measured) ? &frame<detail::profile_frame>() : nullptr};
  }

  using dealing = detail::dealt_children<Context>;
  dealing& dealt() {
    if (!dealt_) dealt_.emplace(*on_, frame<detail::inter_frame>(), &stop_);
    return *dealt_;
  }

  bool stopped() const noexcept {
    return stop_.why.load(std::memory_order_relaxed) != 0;  // relaxed: advice
  }

  void wait() {
    wait_for_children();
    if (HEIST_UNLIKELY(stopped())) stop_.why.store(0, std::memory_order_relaxed);  // relaxed: advice
  }

  /// While only children and what they fork may touch the scope.
  struct waiting {
    explicit waiting(scope& s) noexcept : of{s} { of.waits_ = true; }
    waiting(waiting const&) = delete;
    waiting& operator=(waiting const&) = delete;
    ~waiting() { of.waits_ = false; }
    scope& of;
  };

  void wait_for_children() {
    if (detail::may_start<Context>(way::squads) && dealt_) {
      waiting const waits{*this};
      dealt_->wait();
    }
    if constexpr (detail::may_be_recorded<Context>) {
      if (detail::records(*on_)) return wait_recorded();
    }
    if (forked_ == 0 && joined_.nothing_since()) return;
    detail::profile_pause const paused = pause();
    if (!starts(way::child_first)) run_own();
    waiting const waits{*this};
    if (!joined_.add(std::exchange(forked_, 0))) return;
    on_->wait_for(joined_.all);
    joined_.reset();
  }

  /// The join has a branch of its own: also after the last child the frame may be stolen.
  void wait_recorded() {
    if (!std::exchange(unjoined_, false)) return;
    waiting const waits{*this};
    std::int64_t const added = std::exchange(forked_, 0);
    if (detail::recorded_places::is_special(position_)) {
      detail::frame_record& record = *detail::recorded_places::record_of(position_);
      if ((record.forks & detail::frame_record::serial) != 0) return;
      detail::followed_parent{*on_, record, 1}.join_apart(joined_, added);
    } else {
      std::uint32_t const branch = detail::recorded_places::reserve(position_, 1);
      detail::recorded_places::joining join{*on_, position_, branch};
      if (!joined_.add(added)) return;
      join.about_to_wait();
      on_->wait_for(joined_.all);
    }
    joined_.reset();
  }

  /// Runs children that are still in this worker's deque on top of the waiting frame: they are its own.
  void run_own() {
    while (detail::runnable* const r = on_->on->deque.pop()) {
      if (r->what != &detail::scope_what || static_cast<waiting_child*>(r)->in != this) {
        on_->home.push(*on_->on, *r);
        return;
      }
      r->run(*r, *on_);
      if (HEIST_UNLIKELY(on_->on->attention.raised())) on_->attend();
    }
  }

  bool failed() const noexcept {
    return failed_.load(std::memory_order_relaxed);  // relaxed: the children have finished
  }
  void rethrow() {
    if (failed()) [[unlikely]] {
      failed_.store(false, std::memory_order_relaxed);  // relaxed: as above
      std::rethrow_exception(std::exchange(exception_, nullptr));
    }
  }

  detail::fiber* on_;
  [[no_unique_address]] detail::scope_root<Context> root_;
  detail::fork_slot* position_;   ///< of the context that it was made from
  detail::interrupt_state stop_;  ///< of the children; that of the frame is its outer one
  int unwinding_;
  way way_;
  bool waits_ = false;       ///< what now runs on its fiber does so on top of the frame
  std::int64_t forked_ = 0;  ///< since the last wait
  bool unjoined_ = false;    ///< recorded: it has had children since the last wait
  os_env::atomic<bool> failed_{false};
  std::exception_ptr exception_;
  detail::counted_join joined_;
  std::optional<dealing> dealt_;
};

template <class Order>
scope(basic_context<Order>) -> scope<basic_context<Order>>;

}  // namespace heist
