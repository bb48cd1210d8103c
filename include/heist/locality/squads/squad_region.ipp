// Runs of regions that squads divide. Bodies of squad_extension.
#pragma once

#include <optional>

#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/fiber/control_words.hpp"
#include "heist/core/fiber/exception_state.hpp"
#include "heist/core/fork/scope_base.hpp"
#include "heist/locality/squads/inter_task.hpp"
#include "heist/locality/squads/profile_frame.hpp"
#include "heist/locality/squads/region_run.hpp"
#include "heist/locality/squads/squad_extension.hpp"

namespace heist::detail {

class squad_visit final : public region_visit {
 public:
  squad_visit(region& r, fiber& self, fork_slot* position, tier_mode tiers)
      : run_{r, self.scheduler, tiers}, on_{self}, position_{position} {
    switch (run_.plan()) {
      case division::flat:
        break;
      case division::profiled:
        how_ = region_way::here;
        break;
      default:
        // The squad that is to run the body may need the worker that the caller keeps.
        if (may_suspend(*self.worker)) {
          how_ = region_way::by_extension;
          squads_of(self.scheduler).division_begins();
        } else {
          run_.not_split();
        }
    }
  }

  region_way how() const noexcept override { return how_; }

  fork_slot* position(void const* identity) noexcept override {
    std::uint32_t const task = run_.record(profiled_task::no_parent, 0, identity);
    if (task == region_run::not_recorded) return position_;
    frame_.emplace(run_, task, on_, position_);
    return context_access::marked(&*frame_, profiled_mark);
  }

  /// The body is an inter-squad task of the region's home squad, so that the tree is dealt from the same place every
  /// time. If the caller is that squad's head, it takes the body at once, unless it handles an exception, which must not
  /// be around what forks on its stack. Otherwise it waits.
  void run(erased_child& body) override {
    inter_join join{1};
    inter_child child{body, run_, on_.interrupt, join};
    squad& home = run_.squad_of_scheduler(*on_.worker);
    squad_member& m = member_of(*on_.worker);
    if (m.head && m.in == &home && !home.pool.busy() && !handles_exception()) {
      in_modes const begins_in{on_.scheduler.modes()};  // as on a stack of its own
      home.pool.set_busy();
      m.squad_was_busy = false;
      return child.run_taken(on_);
    }
    child.start_pinned(home);
    on_.wait_for(join.all_ended);
  }

  void finish(bool failed) noexcept override {
    frame_.reset();
    if (how_ == region_way::by_extension) squads_of(on_.scheduler).division_ends();
    run_.finish(failed);
  }

 private:
  region_run run_;
  fiber& on_;
  fork_slot* position_;
  region_way how_ = region_way::sequential;
  std::optional<profile_frame> frame_;
};

HEIST_COLD_BODY unique_ptr<region_visit> squad_extension::enter(region& r, fiber& self, fork_slot* position) {
  if (is_in_tier(self, position)) return nullptr;
  return enter_by(tiers, r, self, position);
}

HEIST_COLD_BODY unique_ptr<region_visit> squad_extension::enter_by(tier_mode how, region& r, fiber& self,
                                                                   fork_slot* position) {
  return make_unique<squad_visit>(r, self, position, how);
}

}  // namespace heist::detail
