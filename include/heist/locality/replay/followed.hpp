// Forks of frames that follow a steal tree, or that designate: donation ("Optimizing Data Locality for Fork/Join
// Programs Using Constrained Work Stealing", SC 2014, IV.B and IV.C; README.md, "Following").
#pragma once

#include <cstdint>
#include <new>      // bad_alloc
#include <utility>  // exchange

#include "heist/core/base/config.hpp"
#include "heist/core/base/errors.hpp"
#include "heist/core/fork/child_first.hpp"
#include "heist/core/fork/counted_join.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/locality/replay/replay_run.hpp"

namespace heist::detail {

/// A calling frame that follows, or designates.
struct followed_frame : recorded_frame {
  followed_record tree_place;      ///< the child's, if it follows
  replay_slot slot;                ///< the worker that gets the rest of the caller
  frame_record* record = nullptr;  ///< the child's
};

/// The decisions of a record's frame about its children, one after the other.
class followed_parent {
 public:
  /// `record`: special, not serial; it calls `children` more. Takes the designation that stands in it.
  followed_parent(fiber& self, frame_record& record, std::uint32_t children) noexcept;

  /// About the next child. `last`: the frame does nothing between it and the join. Throws region_error for a
  /// designation that is not valid.
  followed_way decide(followed_frame& frame, bool last);
  /// There was no stack for it.
  void not_given(followed_frame const& frame) noexcept;
  /// It has ended where it was called.
  void ended(followed_frame& frame) noexcept;

  /// The frame has called its last child; `stolen` of them run elsewhere. Returns when all have ended, where the
  /// tree says.
  void join(counted_join& all, std::int64_t continuation_stolen);
  /// Joins with a branch of its own: the frame could be stolen after its last child, too.
  void join_separately(counted_join& all, std::int64_t continuation_stolen);

 private:
  [[noreturn]] HEIST_RARE static void reject_assignment();

  fiber& on_;
  frame_record& record_;
  std::uint32_t branch_;
  replay_run* run_;
  std::uint32_t assigned_ = tree_slot::no_place;
  replay_slot after_join_;
};

/// Calls `function(&frame, child fiber)` on a fiber of its own, which calls rest_is_left(). Returns on the worker that
/// the rest was given to. Throws stack_error or bad_alloc before it calls.
void call_and_give(fiber& self, followed_frame& frame, flow_function function);

/// The donation, by the child: now the caller has been left.
void rest_is_left(followed_frame& frame) noexcept;

/// Starts children as their parent has decided. `Child` is a followed_frame with call(fiber&, frame_record&), which
/// runs it; join(), which counts it; release(fiber&), after which it may be gone; and of(), from what a flow is given.
template <class Child>
class followed_start {
 public:
  /// True if the child runs elsewhere.
  static bool start(fiber& self, followed_parent& parent, Child& c, bool last) {
    followed_way const way = parent.decide(c, last);
    try {
      if (way == followed_way::given) {
        call_and_give(self, c, &run_given);
        return true;
      }
      if (way == followed_way::stealable) {
        c.parent = &self;
        c.continuation_stolen = false;
        return call_child(self, c, &run_stealable) == call_continuation_stolen;
      }
    } catch (stack_error const&) {  // a child for which there is no stack is called
      parent.not_given(c);
    } catch (std::bad_alloc const&) {
      parent.not_given(c);
    }
    c.call(self, *c.record);
    parent.ended(c);
    c.release(self);
    return false;
  }

 private:
  static int run_given(void* self, void* fiber_of_child) noexcept {
    Child& c = Child::of(self);
    fiber& child = *static_cast<fiber*>(fiber_of_child);
    rest_is_left(c);
    c.call(child, *c.record);
    replay_run* const run = c.slot.run;
    if (run != nullptr) run->pass_rest(c.tree_place);
    end_of_work(c.place.parent);
    if (run != nullptr) run->turn(child);
    bool const counts = run != nullptr && run->counts();
    counted_join& join = c.join();
    c.release(child);
    join.ended();  // the run may be gone if it does not count
    if (counts) run->one_less();
    core::finish_child(child);
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
    core::finish_child(child);
    return child_returned;
  }
};

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/locality/replay/followed.ipp"
#endif
