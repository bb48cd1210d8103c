// Bodies of recorded_scope.hpp.
#pragma once

#include "heist/locality/replay/recorded_scope.hpp"

#include <utility>  // exchange

#include "heist/core/base/errors.hpp"
#include "heist/core/executor/pooled.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/locality/replay/followed.hpp"

namespace heist::detail {

HEIST_BODY recorded_scope::recorded_scope(scope_base& of, bool remote) noexcept
    : of_{of},
      position_{recorded_places::has_record(of.position) ? of.position : recorded_places::position_of(of_no_run_)},
      in_place_{remote} {}

HEIST_BODY bool recorded_scope::calls_at_once() noexcept {
  if (record().is_special()) return is_serial();
  return in_place_ || of_.on->no_migrate != 0;
}

HEIST_BODY void recorded_scope::call_at_once(erased_child& child) noexcept {
  fiber& self = *of_.on;
  interrupted_above const part_of{self, &of_.stop};
  if (is_serial()) return child.call(self, position_);
  unjoined_ = true;
  in_place_if const strict{self, in_place_ && must_not_migrate(self)};
  frame_record place;
  child.call(self, recorded_places::enter(place, position_, recorded_places::reserve(position_, 1)));
}

HEIST_BODY void recorded_scope::fork(scope_child& child) {
  unjoined_ = true;
  if (record().is_special()) {
    fork_followed(child);
  } else {
    fork_recorded(child);
  }
}

/// The frame that a child is called from.
struct recorded_scope_call : recorded_frame {
  explicit recorded_scope_call(scope_child& c) noexcept : child{&c} {}

  static int run(void* argument, void* fiber_of_child) noexcept {
    auto& frame = *static_cast<recorded_scope_call*>(static_cast<caller_frame*>(argument));
    fiber& self = *static_cast<fiber*>(fiber_of_child);
    continuation_slot* const at = begin_child(self);
    scope_child& child = *frame.child;
    scope_base& in = *child.in;
    {
      interrupted_above const part_of{self, &in.stop};
      child.call(self, recorded_places::position_of(frame.place));
    }
    child.end();  // it may wait; once the caller has been given back nothing may
    bool const plain = end_child(self, frame, at);
    if (!plain) recorded_places::ended(frame);
    child.free(self);
    destroy_pooled(self, &frame);
    if (HEIST_LIKELY(plain)) return child_returned;
    in.joined.ended();
    core::finish_child(self);
    return child_returned;
  }

  scope_child* child;
};

HEIST_BODY void recorded_scope::fork_recorded(scope_child& child) {
  fiber& self = *of_.on;
  recorded_scope_call* frame = nullptr;
  try {
    frame = make_pooled<recorded_scope_call>(self, child);
    frame->parent = &self;
    frame->continuation_stolen = false;
    recorded_places::enter(frame->place, position_, recorded_places::reserve(position_, 1));
    if (call_child(self, *frame, &recorded_scope_call::run) == call_continuation_stolen) ++of_.forked;
  } catch (...) {
    if (frame != nullptr) destroy_pooled(self, frame);
    child.discard(self);
    throw;
  }
}

/// The same of a frame that follows a steal tree.
struct followed_scope_call : followed_frame {
  explicit followed_scope_call(scope_child& c) noexcept : child{&c} {}

  static followed_scope_call& of(void* frame) noexcept {
    return *static_cast<followed_scope_call*>(static_cast<caller_frame*>(frame));
  }
  counted_join& join() const noexcept { return child->in->joined; }
  void release(fiber& self) noexcept {
    child->free(self);
    destroy_pooled(self, this);
  }
  void call(fiber& self, frame_record& of_child) noexcept {
    {
      interrupted_above const part_of{self, &child->in->stop};
      child->call(self, recorded_places::position_of(of_child));
    }
    child->end();
  }

  scope_child* child;
};

HEIST_BODY void recorded_scope::fork_followed(scope_child& child) {
  fiber& self = *of_.on;
  followed_scope_call* frame = nullptr;
  try {
    followed_parent parent{self, record(), 1};
    frame = make_pooled<followed_scope_call>(self, child);
    if (followed_start<followed_scope_call>::start(self, parent, *frame, false)) ++of_.forked;
  } catch (...) {  // no memory, or a designation that is not valid
    if (frame != nullptr) destroy_pooled(self, frame);
    child.discard(self);
    throw;
  }
}

HEIST_BODY void recorded_scope::wait() {
  if (!std::exchange(unjoined_, false)) return;
  scope_base::waiting const now{of_};
  wait_for_children();
}

/// The join has a branch of its own: also after the last child the frame may be stolen.
HEIST_BODY void recorded_scope::wait_for_children() {
  fiber& self = *of_.on;
  std::int64_t const forked = std::exchange(of_.forked, 0);
  if (record().is_special()) {
    if (is_serial()) return;
    followed_parent{self, record(), 1}.join_separately(of_.joined, forked);
  } else {
    std::uint32_t const branch = recorded_places::reserve(position_, 1);
    recorded_places::joining join{self, position_, branch};
    if (!of_.joined.add(forked)) return;
    join.about_to_wait();
    self.wait_for(of_.joined.all);
  }
  of_.joined.reset();
}

}  // namespace heist::detail
