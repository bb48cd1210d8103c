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
#include "heist/fork/fork_join.hpp"
#include "heist/fork/recorded.hpp"
#include "heist/fork/scope_groups.hpp"
#include "heist/fork/tier_fork.hpp"
#include "heist/memory/block_pool.hpp"
#include "heist/sched/context.hpp"
#include "heist/sched/core.hpp"
#include "heist/sched/core_fibers.hpp"

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
///          called at once. Child-first it starts at once, on a stack of its own. In the inter-squad tier (policies cab
///          and cats) children are dealt to the squads in groups of neighbours (policy/README.md, "Flat scopes"), at
///          join() at the latest.
template <class Context>
class scope {
 public:
  explicit scope(Context const& c) noexcept
      : on_{&detail::context_access::fiber_of(c)},
        position_{root_.position_of(c)},
        interrupt_{on_->interrupt},
        unwinding_{std::uncaught_exceptions()},
        way_{way_of(c)} {}
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
    if constexpr (detail::may_be_recorded<Context>) {
      if (detail::records(*on_) && detail::recorded_places::is_special(position_)) [[unlikely]]
        return fork_followed(std::forward<F>(f));
    }
    if (way_ == way::child_first ? on_->no_migrate != 0
                                 : w.deque.size_snapshot() >= detail::enough_waiting && way_ != way::squads) {
      // The frame must not be taken elsewhere; or everybody finds work already, and a plain call keeps memory bounded.
      // The callable is copied, as it would be.
      std::decay_t<F> here(std::forward<F>(f));
      pausing const pause{*this};
      call(here, *on_, next_index(), way_ == way::child_first);
      return;
    }
    auto* const made = w.blocks.make<child>(std::forward<F>(f), *this, next_index());
    switch (way_) {
      case way::child_first:
        if (made->start(*on_) == detail::call_overtaken) ++forked_;
        break;
      case way::squads:
        dealt().add(*made);
        break;
      default:
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
  template <class>
  friend struct detail::child_group;

  enum class way {
    deque,
    measured,  ///< as deque, in a region's first run under policy::cats
    child_first,
    squads
  };

  static way way_of(Context const& c) noexcept {
    using access = detail::context_access;
    fork_order const order = access::fiber_of(c).order;
    if (order != fork_order::by_tier) return order == fork_order::parent_first ? way::deque : way::child_first;
    switch (access::mark_of(c)) {
      case detail::tier_mark::flat:
        return way::deque;
      case detail::tier_mark::profiled:
        return way::measured;
      case detail::tier_mark::inter:
        if (access::template unmarked<detail::inter_frame>(c)->run->how() != detail::division::by_hand)
          return way::squads;
        [[fallthrough]];
      default:
        return way::child_first;
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
    if (way_ == way::measured) return frame<detail::profile_frame>().spawn(1);
    return way_ == way::squads ? frame<detail::inter_frame>().spawned++ : 0;
  }

  template <class T>
  T& frame() const noexcept {
    return *detail::context_access::unmarked<T>(detail::context_access::make<Context>(*on_, position_));
  }

  using waiting_child = detail::scope_child<Context>;

  template <class F>
  struct forked final : waiting_child {
    template <class G>
    forked(G&& g, scope& s, std::uint32_t index)
        : waiting_child{{&run, &detail::scope_what}, &s, index, &begin_in, nullptr}, function(std::forward<G>(g)) {}

    /// Parent-first: from a deque.
    static detail::runnable* run(detail::runnable& self, detail::fiber& on) {
      auto* const child = static_cast<forked*>(&self);
      on.on->report_tally();
      scope& in = *child->in;
      {
        detail::interrupted_by const interrupt{on, in.interrupt_};
        in.call(child->function, on, child->index, false);
      }
      on.on->blocks.destroy(child);
      in.joined_.ended();
      return nullptr;
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
        on.on->blocks.destroy(this);
        throw;
      }
    }

    static int run_as_child(void* self, void* fiber_of_child) noexcept {
      forked* const child = static_cast<call_frame*>(static_cast<detail::calling_frame*>(self))->child;
      auto& on = *static_cast<detail::fiber*>(fiber_of_child);
      auto* const at = detail::begin_child(on);
      scope& in = *child->in;
      in.call(child->function, on, child->index, true);
      bool const plain = detail::end_child(on, child->frame, at);
      if constexpr (detail::may_be_recorded<Context>) {
        if (!plain && detail::records(on)) detail::recorded_places::ended(child->frame);
      }
      on.on->blocks.destroy(child);
      if (HEIST_LIKELY(plain)) return detail::child_returned;
      in.joined_.ended();
      detail::core::leave_child(on);
      return detail::child_returned;
    }

    /// In an inter-squad task: alone it is called; in a group (`in` is the group's scope) it starts child-first.
    static void begin_in(waiting_child& self, scope& in, Context c) {
      auto* const child = static_cast<forked*>(&self);
      if (&in != child->in) {
        child->in = &in;
        detail::fiber& on = *in.on_;
        if (on.no_migrate == 0 && detail::may_start_child(*on.on)) {
          if (child->start(on) == detail::call_overtaken) ++in.forked_;
        } else {
          in.call(child->function, on, child->index, true);
          on.on->blocks.destroy(child);
        }
        return;
      }
      in.call_in(child->function, c);
      detail::context_access::fiber_of(c).on->blocks.destroy(child);
    }

    struct call_frame : detail::frame_that_calls<Context> {
      forked* child;
    };

    /// Of a frame that follows a steal tree.
    struct followed : detail::followed_frame {
      template <class G>
      followed(G&& g, scope& s) : in{s}, function(std::forward<G>(g)) {}
      static followed& of(void* frame) noexcept {
        return *static_cast<followed*>(static_cast<detail::calling_frame*>(frame));
      }
      detail::counted_join& join() const noexcept { return in.joined_; }
      void release(detail::fiber& on) noexcept { on.on->blocks.destroy(this); }
      void call(detail::fiber& on, detail::frame_record& place) noexcept {
        in.call_in(function, detail::context_access::make<Context>(on, detail::recorded_places::position_of(place)));
      }

      scope& in;
      F function;
    };

    F function;
    call_frame frame;
  };

  /// Of a frame that follows a steal tree or has designated, or that has nothing to steal below.
  template <class F>
  HEIST_COLD void fork_followed(F&& f) {
    using child = typename forked<std::decay_t<F>>::followed;
    detail::frame_record& record = *detail::recorded_places::record_of(position_);
    if ((record.forks & detail::frame_record::serial) != 0) {
      std::decay_t<F> here(std::forward<F>(f));
      return call_in(here, detail::context_access::make<Context>(*on_, position_));
    }
    unjoined_ = true;
    detail::followed_parent parent{*on_, record, 1};
    auto* const made = on_->on->blocks.template make<child>(std::forward<F>(f), *this);
    try {
      if (detail::followed_start<child>::start(*on_, parent, *made, false)) ++forked_;
    } catch (region_error const&) {  // a designation that is not valid
      on_->on->blocks.destroy(made);
      throw;
    }
  }

  template <class F>
  void call(F& f, detail::fiber& on, std::uint32_t index, bool child_first) noexcept {
    using access = detail::context_access;
    if constexpr (detail::may_be_recorded<Context>) {
      if (detail::records(on)) {
        detail::frame_record place;
        detail::fork_slot* const there = detail::recorded_places::enter(place, position_, index);
        return call_in(f, access::make<Context>(on, there));
      }
    }
    detail::fork_slot* const top = on.top();
    bool const intra = child_first && on.order == fork_order::by_tier;
    Context const c = access::make<Context>(on, intra ? access::marked(top, detail::tier_mark::intra) : top);
    if (way_ == way::measured) [[unlikely]] {
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
      if (!failed_.exchange(true, std::memory_order_acq_rel)) exception_ = std::current_exception();
    }
  }

  /// While children run in the place of a frame that is measured.
  struct pausing {
    explicit pausing(scope& s) noexcept
        : of{s.way_ == way::measured ? &s.template frame<detail::profile_frame>() : nullptr} {
      if (of != nullptr) of->pause();
    }
    pausing(pausing const&) = delete;
    pausing& operator=(pausing const&) = delete;
    ~pausing() {
      if (of != nullptr) of->go_on();
    }
    detail::profile_frame* of;
  };

  using dealing = detail::dealt_children<Context>;
  dealing& dealt() {
    if (!dealt_) dealt_.emplace(*on_, frame<detail::inter_frame>(), interrupt_);
    return *dealt_;
  }

  void wait() {
    if (dealt_) dealt_->wait();
    if constexpr (detail::may_be_recorded<Context>) {
      if (detail::records(*on_)) return wait_recorded();
    }
    if (forked_ == 0) return;
    pausing const pause{*this};
    if (way_ != way::child_first) run_own();
    if (joined_.add(std::exchange(forked_, 0))) on_->wait_for(joined_.all);
    joined_.all.reset();
  }

  /// The join has a branch of its own: also after the last child the frame may be stolen.
  void wait_recorded() {
    if (!std::exchange(unjoined_, false)) return;
    std::int64_t const added = std::exchange(forked_, 0);
    if (detail::recorded_places::is_special(position_)) {
      detail::frame_record& record = *detail::recorded_places::record_of(position_);
      if ((record.forks & detail::frame_record::serial) != 0) return;
      detail::followed_parent{*on_, record, 1}.join_apart(joined_, added);
    } else {
      static_cast<void>(detail::recorded_places::reserve(position_, 1));
      detail::recorded_places::joining join{*on_, position_};
      if (!joined_.add(added)) return;
      join.about_to_wait();
      on_->wait_for(joined_.all);
    }
    joined_.all.reset();
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
  [[no_unique_address]] detail::scope_root<Context> root_;
  detail::fork_slot* position_;  ///< of the context that it was made from
  detail::interrupt_state const* interrupt_;
  int unwinding_;
  way way_;
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
