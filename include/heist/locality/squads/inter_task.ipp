// Bodies of inter_task.hpp.
#pragma once

#include "heist/locality/squads/inter_task.hpp"

#include "heist/core/scheduler/core.hpp"

namespace heist::detail {

HEIST_COLD_BODY void inter_join::child_ended() noexcept {
  // acq_rel: the last one, and through it the parent, sees what all did
  if (outstanding.fetch_sub(1, std::memory_order_acq_rel) == 1) all_ended.complete();
}

HEIST_COLD_BODY void inter_join::wait(fiber& self, inter_frame& frame) {
  frame.task->suspended = true;
  self.wait_for(all_ended);
  frame.task->suspended = false;
}

HEIST_COLD_BODY inter_task::inter_task(run_function function, inter_frame const& parent, std::uint32_t index,
                                       interrupt_state const* outer) noexcept
    : pooled_runnable{{{function, &fork_what}, nullptr}, nullptr, nullptr},
      run_{parent.run},
      path_{tier::path_of_child(parent.path, index)},
      level_{parent.level + 1} {
  place(outer);
  if (run_->how() == division::by_profile) {
    entry_ = run_->profile().lookup(parent.entry, index);
    if (entry_ == region_profile::no_entry) run_->changed_shape();
  }
}

HEIST_COLD_BODY inter_task::inter_task(run_function function, region_run& of, interrupt_state const* outer) noexcept
    : pooled_runnable{{{function, &fork_what}, nullptr}, nullptr, nullptr}, run_{&of}, path_{0}, level_{1} {
  place(outer);
  if (run_->how() == division::by_profile) entry_ = region_profile::root;
}

HEIST_COLD_BODY bool inter_task::is_leaf() const noexcept {
  if (leaf_) return true;
  switch (run_->how()) {
    case division::by_level:
      return level_ >= run_->boundary_level();
    case division::by_profile:
      return entry_ == region_profile::no_entry || run_->profile()[entry_].tier != task_tier::inter;
    default:
      return false;
  }
}

HEIST_COLD_BODY void inter_task::start_in(squad& to, bool pinned) noexcept {
  auto& squads = task_.extension->squads;
  if (pinned) {
    squads.add_pinned(to, *this);
  } else {
    remembered_ = &to;
    squads.add(to, *this);
  }
}

HEIST_COLD_BODY void inter_task::place(interrupt_state const* outer) noexcept {
  interrupt_.outer = outer;
  interrupt_.resumes = &task_;
  task_.extension = &squads_of(run_->scheduler());
}

template <class Call>
void inter_task::run_on(fiber& self, bool in_place, Call&& call) noexcept {
  self.worker->report_pending_count();
  if (in_place) {
    interrupt_.resumes = self.rule_of_task();  // a part of what runs here
  } else {
    squad_member const& m = member_of(*self.worker);
    task_.in = m.in;
    task_.occupies = !m.squad_was_busy;
    task_.level = level_;
    if (m.in != remembered_ || run_->keeps_first()) run_->ran_in(path_, m.in->number);
  }
  interrupted_above const part_of{self, &interrupt_};
  if (!in_place) task_.extension->tell(*self.worker, task_, squad_event::enters);
  fork_slot* const top = self.top();
  inter_frame frame{run_, top, task_of(self), path_, level_, entry_, 0};
  call(self, is_leaf() ? context_access::marked(top, position_mark::child_first)
                       : context_access::marked(&frame, inter_mark));
  // Perhaps on another worker now, of the same squad.
  if (in_place) return;
  task_.extension->tell(*self.worker, task_, squad_event::leaves);
  task_.extension->release(*self.worker, task_);
}

HEIST_COLD_BODY runnable* inter_child::run(runnable& task, fiber& self) {
  auto& child = static_cast<inter_child&>(task);
  child.call(self, false);
  child.join_->child_ended();
  return nullptr;
}

HEIST_COLD_BODY void inter_child::call(fiber& self, bool in_place) noexcept {
  run_on(self, in_place, [this](fiber& here, fork_slot* position) { child_->call(here, position); });
}

}  // namespace heist::detail
