// Bodies of followed.hpp.
#pragma once

#include "heist/locality/replay/followed.hpp"

#include <cstddef>  // size_t

#include "heist/core/base/assert.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/sync/completion.hpp"

namespace heist::detail {

HEIST_BODY followed_parent::followed_parent(fiber& self, frame_record& record, std::uint32_t children) noexcept
    : on_{self},
      record_{record},
      branch_{record.forks & frame_record::count},
      run_{(record.forks & frame_record::plain) != 0 ? nullptr : static_cast<followed_record&>(record).run} {
  if ((record.forks & frame_record::is_assigned) != 0) assigned_ = room_bits{self.extension_word}.assigned_worker();
  record.forks = (run_ != nullptr ? frame_record::special : 0) + branch_ + children;
}

HEIST_BODY followed_way followed_parent::decide(followed_frame& frame, bool last) {
  std::uint32_t const branch = branch_++;
  std::uint32_t node = steal_tree::none;
  frame.place = {&record_, branch, 0};
  frame.slot = replay_slot{};
  if (run_ != nullptr) {
    node = run_->pass_to(static_cast<followed_record&>(record_), branch);
    frame.tree_place = run_->record_of_child(&record_, branch, node);
    frame.slot = run_->slot_of(node);
    after_join_ = frame.slot;
  }
  if (assigned_ != tree_slot::no_place) {
    if (frame.slot) run_->reject(frame.slot);
    frame.slot = replay_slot{run_, {std::exchange(assigned_, tree_slot::no_place), tree_slot::no_place}};
  }
  bool const strict = run_ != nullptr && run_->strict();
  followed_way const way = way_of_child(strict, static_cast<bool>(frame.slot), last, on_.no_migrate != 0, [this] {
    return on_.worker->continuations.all_taken(on_.worker->continuation_top);
  });
  if (frame.slot && !last && way != followed_way::given) {
    if (run_ == nullptr) reject_assignment();
    run_->reject(frame.slot);
  }
  bool const may_assign = run_ != nullptr && run_->by_hand() && (last || way == followed_way::given);
  frame.record = may_assign || (run_ != nullptr && run_->has_children(node)) ? &frame.tree_place
                 : strict                                                    ? &run_->serial()
                                                                             : &frame.place;
  return way;
}

HEIST_BODY void followed_parent::not_given(followed_frame const& frame) noexcept {
  if (run_ != nullptr && frame.slot) run_->reject(frame.slot);
}

HEIST_BODY void followed_parent::ended(followed_frame& frame) noexcept {
  if (run_ != nullptr) run_->pass_rest(frame.tree_place);
}

HEIST_BODY void followed_parent::join_separately(counted_join& all, std::int64_t continuation_stolen) {
  if (run_ != nullptr) after_join_ = run_->slot_of(run_->pass_to(static_cast<followed_record&>(record_), branch_));
  ++branch_;
  join(all, continuation_stolen);
}

HEIST_BODY void followed_parent::reject_assignment() {
  throw region_error{
      "ctx.designate: the rest of this frame cannot be given away, because the rest of a frame above it still "
      "belongs to the same worker, which then could not come back to it (the paper's validity check). Fix it by "
      "designating in the frame above first; under region.follow_designations() it depends on the program alone"};
}

HEIST_BODY void followed_parent::join(counted_join& all, std::int64_t continuation_stolen) {
  bool const waits = all.add(continuation_stolen);
  bool const strict = run_ != nullptr && run_->strict();
  bool moves = moves_at_join(strict, static_cast<bool>(after_join_), waits);
  if (moves && on_.no_migrate != 0) {
    run_->reject(after_join_);
    moves = false;
  }
  if (!waits && !moves) return;
  std::uint32_t const before = on_.worker->number;
  end_of_work(&record_);
  if (moves) {
    if (!waits) all.all.complete();
    if (on_.wait_for(all.all, after_join_)) {
      room_bits{on_.extension_word}.set_turn_of(after_join_.to);  // it has come in its turn
    } else {
      run_->reject(after_join_);
    }
  } else if (strict) {
    replay_slot here{run_};
    on_.wait_for(all.all, here);
    if (run_->in_order()) return begin_of_work(&record_);  // nothing else has run here meanwhile
  } else {
    on_.wait_for(all.all);
  }
  steal_log::note(&record_, branch_ - 1, on_.worker->number, before, true);
}

HEIST_BODY void call_and_give(fiber& self, followed_frame& frame, flow_function function) {
  HEIST_ASSERT(
      !handles_exception(),
      "a fork of which a steal tree, or ctx.designate, gives the rest to another worker, inside a catch block; "
      "fix it by forking after that");
  worker& w = *self.worker;
  fiber& child = w.scheduler.acquire_unused(w);
  if (w.continuation_top != w.continuations.first()) core::forget_continuations(w);
  frame.parent = &self;
  frame.continuation_stolen = true;
  child.worker = &w;
  child.interrupt = self.interrupt;
  child.called_by = &frame;
  // The child resumes in the place of the caller; a frame whose place is in no list comes without a turn.
  room_bits{child.extension_word}.set_turn_of(room_bits{self.extension_word}.exchange_turn_of(
      frame.slot.place == tree_slot::no_place ? room_bits::no_turn : frame.slot.to));
  auto const [record, branch, unused] = frame.place;  // now: the child may be gone afterwards
  std::uint32_t const before = w.number;
  w.current.store(&child, std::memory_order_release);  // release: see worker::current
  fiber_context::call(self.own_fiber_context(), child.own_fiber_context(), function, static_cast<caller_frame*>(&frame),
                      &child);
  if (self.worker->number == before) {
    begin_of_work(record);
  } else {
    steal_log::note(record, branch, self.worker->number, before);
  }
}

HEIST_BODY void rest_is_left(followed_frame& frame) noexcept {
  fiber& caller = *frame.parent;
  caller.own_fiber_context().keep_control();
  if (caller.called_by != nullptr) caller.called_by->continuation_stolen = true;  // as in core::steal_continuation
  frame.slot.make_ready(caller);
}

}  // namespace heist::detail
