// Forks of frames that follow a steal tree, or that designate: donation ("Optimizing Data Locality for Fork/Join
// Programs Using Constrained Work Stealing", SC 2014, IV.B and IV.C; README.md, "Following").
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <new>      // bad_alloc
#include <utility>  // exchange

#include "heist/base/assert.hpp"
#include "heist/base/config.hpp"
#include "heist/base/env.hpp"
#include "heist/base/errors.hpp"
#include "heist/fork/child_first.hpp"
#include "heist/fork/counted_join.hpp"
#include "heist/sched/core.hpp"
#include "heist/sched/core_fibers.hpp"
#include "heist/sched/replay_run.hpp"
#include "heist/sync/completion.hpp"

namespace heist::detail {

/// A calling frame that follows, or designates.
struct followed_frame : recorded_frame {
  followed_record tree_place;      ///< the child's, if it follows
  replay_seat seat;                ///< whom the rest of the caller is given to
  frame_record* record = nullptr;  ///< the child's
};

/// What becomes of a child and of the rest of its caller.
enum class followed_way {
  in_place,  ///< a call: nobody can have the rest meanwhile
  stealable,
  given
};

/// What the frame of a record decides about its children, one after the other.
class followed_parent {
 public:
  /// `record`: special, not serial; it calls `children` more. Takes the designation that stands in it.
  followed_parent(fiber& on, frame_record& record, std::uint32_t children) noexcept
      : on_{on},
        record_{record},
        branch_{record.forks & frame_record::count},
        run_{(record.forks & frame_record::plain) != 0 ? nullptr : static_cast<followed_record&>(record).run} {
    if ((record.forks & frame_record::designated) != 0) designated_ = on.designated_worker;
    record.forks = (run_ != nullptr ? frame_record::special : 0) + branch_ + children;
  }

  /// About the next child. `last`: the frame does nothing between it and the join. Throws region_error for a
  /// designation that is not valid.
  followed_way decide(followed_frame& frame, bool last) {
    std::uint32_t const branch = branch_++;
    std::uint32_t node = steal_tree::none;
    frame.place = {&record_, branch, 0};
    frame.seat = {};
    if (run_ != nullptr) {
      node = run_->pass_to(static_cast<followed_record&>(record_), branch);
      frame.tree_place = run_->record_of_child(&record_, branch, node);
      frame.seat = run_->seat_of(node);
      after_join_ = frame.seat;
    }
    if (designated_ != replay_seat::nowhere) {
      if (frame.seat) run_->refuse(frame.seat);
      frame.seat = {run_, std::exchange(designated_, replay_seat::nowhere), replay_seat::nowhere};
    }
    bool const strict = run_ != nullptr && run_->strict();
    auto way = strict || last || on_.no_migrate != 0 ? followed_way::in_place : followed_way::stealable;
    if (frame.seat && !last) {
      if (on_.no_migrate == 0 && on_.on->continuations.all_taken(on_.on->continuation_top)) {
        way = followed_way::given;
      } else {
        if (run_ == nullptr) refuse_designation();
        run_->refuse(frame.seat);
      }
    }
    bool const may_designate = run_ != nullptr && run_->by_hand() && (last || way == followed_way::given);
    frame.record = may_designate || (run_ != nullptr && run_->goes_deeper(node)) ? &frame.tree_place
                   : strict                                                      ? &run_->serial()
                                                                                 : &frame.place;
    return way;
  }
  /// There was no stack for it.
  void not_given(followed_frame const& frame) noexcept {
    if (run_ != nullptr && frame.seat) run_->refuse(frame.seat);
  }
  /// It has ended where it was called.
  void ended(followed_frame& frame) noexcept {
    if (run_ != nullptr) run_->pass_rest(frame.tree_place);
  }

  /// The frame has called its last child; `overtaken` of them run elsewhere. Returns when all have ended, where the
  /// tree says.
  void join(counted_join& all, std::int64_t overtaken);
  /// As above, with a branch of its own: the frame could be stolen after its last child, too.
  void join_apart(counted_join& all, std::int64_t overtaken) {
    if (run_ != nullptr) after_join_ = run_->seat_of(run_->pass_to(static_cast<followed_record&>(record_), branch_));
    ++branch_;
    join(all, overtaken);
  }

 private:
  [[noreturn]] HEIST_COLD static void refuse_designation() {
    throw region_error{
        "ctx.designate: the rest of this frame cannot be given away, because the rest of a frame above it still "
        "belongs to the same worker, which then could not come back to it (the paper's validity check). Mend it by "
        "designating in the frame above first; under region.follow_designations() it depends on the program alone"};
  }

  fiber& on_;
  frame_record& record_;
  std::uint32_t branch_;
  replay_run* run_;
  std::uint32_t designated_ = replay_seat::nowhere;
  replay_seat after_join_;
};

inline void followed_parent::join(counted_join& all, std::int64_t overtaken) {
  bool const waits = all.add(overtaken);
  bool const strict = run_ != nullptr && run_->strict();
  bool moves = static_cast<bool>(after_join_) && (strict || waits);
  if (moves && on_.no_migrate != 0) {
    run_->refuse(after_join_);
    moves = false;
  }
  if (!waits && !moves) return;
  std::uint32_t const before = on_.on->number;
  end_of_work(&record_);
  if (moves) {
    if (!waits) all.all.complete();
    if (!on_.wait_for(all.all, after_join_)) run_->refuse(after_join_);
  } else if (strict) {
    replay_seat const here{run_};
    on_.wait_for(all.all, here);
    if (run_->in_order()) return begin_of_work(&record_);  // nothing else has run here meanwhile
  } else {
    on_.wait_for(all.all);
  }
  steal_log::note(&record_, branch_ - 1, on_.on->number, before, true);
}

/// Calls `function(&frame, child fiber)` on a fiber of its own, which calls rest_is_left(). Returns on the worker that
/// the rest was given to. Throws stack_error or bad_alloc before it calls.
inline void call_and_give(fiber& on, followed_frame& frame, flow_function function) {
  HEIST_ASSERT(!handles_exception() && on.locks == 0,
               "a fork of which a steal tree, or ctx.designate, gives the rest to another worker, inside a catch block "
               "or with a heist::mutex held; mend it by forking after that");
  worker& w = *on.on;
  fiber& child = w.home.obtain_fresh(w);
  if (w.continuation_top != w.continuations.first()) core::forget_continuations(w);
  frame.parent = &on;
  frame.overtaken = true;
  child.on = &w;
  child.interrupt = on.interrupt;
  child.called_by = &frame;
  // The child goes on in the place of the caller; who is given a place in no list comes without a turn.
  child.turnless = std::exchange(on.turnless, frame.seat.place == replay_seat::nowhere);
  auto const [record, branch, unused] = frame.place;  // now: the child may be gone afterwards
  std::uint32_t const before = w.number;
  w.current.store(&child, std::memory_order_release);  // release: see worker::current
  flow::call(on.own_flow(), child.own_flow(), function, static_cast<calling_frame*>(&frame), &child);
  if (on.on->number == before) {
    begin_of_work(record);
  } else {
    steal_log::note(record, branch, on.on->number, before);
  }
}

/// The donation, by the child: now the caller has been left.
inline void rest_is_left(followed_frame& frame) noexcept {
  fiber& caller = *frame.parent;
  caller.own_flow().keep_control();
  if (caller.called_by != nullptr) caller.called_by->overtaken = true;  // as in core::steal_continuation
  frame.seat.go_on(caller);
}

/// Starts children as their parent has decided. `Child` is a followed_frame with call(fiber&, frame_record&), which
/// runs it; join(), which counts it; release(fiber&), after which it may be gone; and of(), from what a flow is given.
template <class Child>
class followed_start {
 public:
  /// True if the child runs elsewhere.
  static bool start(fiber& on, followed_parent& parent, Child& c, bool last) {
    followed_way const way = parent.decide(c, last);
    try {
      if (way == followed_way::given) {
        call_and_give(on, c, &run_given);
        return true;
      }
      if (way == followed_way::stealable) {
        c.parent = &on;
        c.overtaken = false;
        return call_child(on, c, &run_stealable) == call_overtaken;
      }
    } catch (stack_error const&) {  // what cannot have a stack of its own is called
      parent.not_given(c);
    } catch (std::bad_alloc const&) {
      parent.not_given(c);
    }
    c.call(on, *c.record);
    parent.ended(c);
    c.release(on);
    return false;
  }

 private:
  static int run_given(void* self, void* fiber_of_child) noexcept {
    Child& c = Child::of(self);
    fiber& child = *static_cast<fiber*>(fiber_of_child);
    rest_is_left(c);
    c.call(child, *c.record);
    replay_run* const run = c.seat.run;
    if (run != nullptr) run->pass_rest(c.tree_place);
    end_of_work(c.place.parent);
    if (run != nullptr) run->turn(child);
    bool const counts = run != nullptr && run->counts();
    counted_join& join = c.join();
    c.release(child);
    join.ended();  // the run may be gone if it does not count
    if (counts) run->one_less();
    core::leave_child(child);
    return child_returned;
  }

  static int run_stealable(void* self, void* fiber_of_child) noexcept {
    Child& c = Child::of(self);
    fiber& child = *static_cast<fiber*>(fiber_of_child);
    continuation_slot* const at = begin_child(child);
    c.call(child, *c.record);
    bool const returns = end_child(child, c, at);
    if (!returns) end_of_work(c.place.parent);
    counted_join& join = c.join();
    c.release(child);
    if (returns) return child_returned;
    join.ended();
    core::leave_child(child);
    return child_returned;
  }
};

/// Is there little room left on this fiber's stack? Then plain calls should not go deeper.
inline bool short_of_stack(fiber& on) noexcept {
  stack const& memory = on.own_flow().memory();
  std::size_t const reserve = memory.usable() / 4;
  return static_cast<char*>(__builtin_frame_address(0)) < memory.bottom() + reserve;
}

}  // namespace heist::detail
