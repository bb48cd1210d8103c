// Bodies of replay_extension.hpp.
#pragma once

#include "heist/locality/replay/replay_extension.hpp"

#include "heist/locality/history/placement_history.hpp"
#include "heist/locality/replay/frame_record.hpp"
#include "heist/locality/replay/steal_log.hpp"

namespace heist::detail {

HEIST_BODY bool replay_extension::may_suspend(fiber const& f) const noexcept {
  if (must_not_migrate(f)) return false;
  return f.called_by == nullptr ||
         recorded_run::of(static_cast<recorded_frame const&>(*f.called_by).place.parent) == nullptr;
}

HEIST_BODY bool replay_extension::may_leave_worker(fiber const& f) const noexcept {
  return !must_not_migrate(f);
}

HEIST_BODY frame_note replay_extension::note_of(caller_frame const& frame) const noexcept {
  frame_record const& child = static_cast<recorded_frame const&>(frame).place;
  return {child.parent, child.index};
}

HEIST_BODY void replay_extension::stolen(frame_note const& note, worker const& thief,
                                         worker const& victim) const noexcept {
  steal_log::note(static_cast<frame_record const*>(note.frame), note.branch, thief.number, victim.number);
}

HEIST_COLD_BODY unique_ptr<graph_recall> replay_extension::make_recall() const {
  return make_unique<placement_history>();
}

}  // namespace heist::detail
