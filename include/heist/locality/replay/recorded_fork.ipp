// Forks whose children's types need not be known, where steals are noted. Bodies of replay_extension, and special_fork().
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <new>  // bad_alloc
#include <span>

#include "heist/core/base/errors.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/locality/region/frame_array.hpp"
#include "heist/locality/replay/followed.hpp"
#include "heist/locality/replay/recorded_places.hpp"
#include "heist/locality/replay/recorded_scope.hpp"
#include "heist/locality/replay/replay_extension.hpp"

namespace heist::detail {

struct recorded_child : recorded_frame {
  explicit recorded_child(erased_child& c) noexcept : child{&c} {}

  static int run(void* argument, void* fiber_of_child) noexcept {
    auto& frame = *static_cast<recorded_child*>(static_cast<caller_frame*>(argument));
    fiber& self = *static_cast<fiber*>(fiber_of_child);
    continuation_slot* const at = begin_child(self);
    frame.child->call(self, recorded_places::position_of(frame.place));
    if (HEIST_LIKELY(end_child(self, frame, at))) return child_returned;
    recorded_places::ended(frame);
    frame.finished.complete();
    core::finish_child(self);
    return child_returned;
  }

  erased_child* child;
  bool runs = false;  ///< elsewhere
};

/// Starts a child that is not the last; false if it cannot have a stack of its own.
HEIST_COLD_BODY bool start_recorded(fiber& self, recorded_child& frame, bool is_first) {
  if (self.no_migrate != 0) return false;
  frame.parent = &self;
  frame.continuation_stolen = false;
  try {
    frame.runs = call_child(self, frame, &recorded_child::run) == call_continuation_stolen;
    return true;
  } catch (...) {
    if (is_first) throw;
    return false;  // the earlier ones may run, and refer to this frame: called in place it costs a deeper stack
  }
}

/// Of a frame that follows nothing: as child_first_fork.
HEIST_COLD_BODY void recorded_fork(fiber& self, fork_slot* position, std::span<erased_child* const> children) {
  auto const count = static_cast<std::uint32_t>(children.size());
  if (count == 1) return children.front()->call(self, position);
  frame_array<recorded_child> frames{count};
  if (!frames.has_room()) throw std::bad_alloc{};
  std::uint32_t const branch = recorded_places::reserve(position, count);
  for (std::uint32_t i = 0; i != count; ++i) {
    recorded_child& frame = frames.add(*children[i]);
    fork_slot* const there = recorded_places::enter(frame.place, position, branch + i);
    if (i + 1 == count || !start_recorded(self, frame, i == 0)) children[i]->call(self, there);
  }
  recorded_places::joining join{self, position, branch + count - 1};
  for (std::uint32_t i = 0; i != count; ++i) {
    if (!frames[i].runs) continue;
    if (!frames[i].finished.is_ready()) join.about_to_wait();
    self.wait_for(frames[i].finished);
  }
}

struct followed_child : followed_frame {
  followed_child(erased_child& c, counted_join& all) noexcept : child{&c}, joined{&all} {}

  static followed_child& of(void* frame) noexcept {
    return *static_cast<followed_child*>(static_cast<caller_frame*>(frame));
  }
  counted_join& join() const noexcept { return *joined; }
  void release(fiber&) noexcept {}
  void call(fiber& self, frame_record& of_child) noexcept { child->call(self, recorded_places::position_of(of_child)); }

  erased_child* child;
  counted_join* joined;
};

HEIST_COLD_BODY void special_fork(fiber& self, frame_record& record, fork_slot* position,
                                  std::span<erased_child* const> children) {
  if (children.size() == 1) return children.front()->call(self, position);  // as in a run that is recorded
  if ((record.forks & frame_record::serial) != 0) {
    if (self.short_of_stack()) {  // frames below may then be stolen; otherwise they could not run at all
      frame_record of_no_run{nullptr, 0, 0};
      return recorded_fork(self, recorded_places::position_of(of_no_run), children);
    }
    for (erased_child* const child : children) child->call(self, position);
    return;
  }
  frame_array<followed_child> frames{children.size()};
  if (!frames.has_room()) throw std::bad_alloc{};
  followed_parent parent{self, record, static_cast<std::uint32_t>(children.size())};
  counted_join join;
  std::int64_t continuation_stolen = 0;
  for (erased_child* const child : children) {
    bool const last = child == children.back();
    if (followed_start<followed_child>::start(self, parent, frames.add(*child, join), last)) ++continuation_stolen;
  }
  parent.join(join, continuation_stolen);
}

HEIST_COLD_BODY place_to_fork replay_extension::way_of_fork(fiber& of, fork_slot* position, bool) noexcept {
  return {fork_way::by_extension, &of, position};
}

HEIST_COLD_BODY void replay_extension::fork(fiber& of, fork_slot* position, std::span<erased_child* const> children) {
  fiber& self = of.runs_here() ? of : fiber_of_caller(of);
  if (&self != &of || !recorded_places::has_record(position)) {
    recorded_places::without_context frame{self};
    return recorded_fork(self, frame.position(), children);
  }
  frame_record& record = *recorded_places::record_of(position);
  if (record.is_special()) {
    special_fork(self, record, position, children);
  } else {
    recorded_fork(self, position, children);
  }
}

HEIST_COLD_BODY fork_way replay_extension::way_of_scope(fiber&, fork_slot*) noexcept {
  return fork_way::by_extension;
}

HEIST_COLD_BODY unique_ptr<extension_scope> replay_extension::make_scope(scope_base& of, bool remote) {
  return make_unique<recorded_scope>(of, remote);
}

HEIST_COLD_BODY bool replay_extension::may_queue(fiber const&, fork_way) const noexcept {
  return false;
}

HEIST_COLD_BODY bool replay_extension::has_history(fork_slot* position) const noexcept {
  if (!recorded_places::has_record(position)) return false;
  frame_record const* const record = recorded_places::record_of(position);
  return record->is_special() || recorded_run::of(record) != nullptr;
}

HEIST_COLD_BODY void replay_extension::assign_continuation(fiber& self, fork_slot* position, std::size_t worker) {
  if (!recorded_places::has_record(position)) return;
  frame_record& record = *recorded_places::record_of(position);
  if ((record.forks & frame_record::serial) != 0) {
    throw region_error{
        "ctx.designate: the rest of this task cannot be given away, because that of a task above it was not (the "
        "paper's validity check: a steal needs the steals above it). Fix it by designating in the task that forked "
        "this one; in a run that follows a tree, the tree says what is stolen"};
  }
  if (recorded_run::of(&record) == nullptr) return;
  room_bits{self.extension_word}.assign_continuation(static_cast<std::uint32_t>(worker));
  record.forks |= frame_record::is_assigned | (record.is_special() ? 0 : frame_record::special | frame_record::plain);
}

HEIST_COLD_BODY bool replay_extension::may_be_stolen(fork_slot* position) const noexcept {
  return !recorded_places::has_record(position) ||
         (recorded_places::record_of(position)->forks & frame_record::serial) == 0;
}

}  // namespace heist::detail
