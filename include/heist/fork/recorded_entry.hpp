// How a task enters a region where the policy records: free, along a steal tree, or as ctx.designate says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

#include "heist/base/config.hpp"
#include "heist/base/env.hpp"
#include "heist/fork/fork_join.hpp"
#include "heist/fork/recorded.hpp"
#include "heist/sched/region.hpp"
#include "heist/sched/replay_run.hpp"

namespace heist::detail {

/// One run of a region under a policy that records.
class recorded_region_run {
 public:
  recorded_region_run(region_access const& memory, fiber& on);
  frame_record& body_record() noexcept;
  std::uint32_t body_worker() const noexcept { return body_; }
  bool follows() const noexcept { return replay_.has_value(); }
  /// What the body's tasks are interrupted by.
  interrupt_state& interrupt() noexcept { return replay_->interrupt; }

  /// On the worker of the body, right before it.
  void begin() noexcept;
  /// Right after it.
  void end() noexcept;
  /// By the task that entered.
  void finish(bool failed) noexcept;

 private:
  using following = region_access::following_kind;

  void follow(adaptation const& adapted);
  void follow(steal_tree const& tree, replay_mode mode, bool by_hand = false);
  std::string note() const;

  region_access const& memory_;
  core& home_;
  steal_log log_;
  recorded_run run_;
  steal_tree by_hand_;
  std::optional<replay_run> replay_;
  std::uint32_t body_;
  std::size_t recorded_with_ = 0;
  bool keeps_order_ = false;
  std::int64_t began_ = 0, elapsed_ = 0;
};

/// The body of a run that follows, as something for its worker to run.
template <class Context, class F>
class followed_body : public queued_runnable {
 public:
  followed_body(F& f, recorded_region_run& of, interrupt_state const* outer) noexcept
      : queued_runnable{{&run_here, &fork_what}, nullptr}, f_{f}, run_{of} {
    of.interrupt().outer = outer;
  }

  decltype(auto) result() {
    if (failed_) out_.rethrow();
    return out_.take();
  }
  completion ended;

 private:
  static runnable* run_here(runnable& self, fiber& on) {
    on.on->report_tally();
    on.turnless = false;
    auto& body = static_cast<followed_body&>(self);
    {
      interrupted_by const interrupt{on, &body.run_.interrupt()};
      body.run_.begin();
      body.failed_ = body.out_.fill([&]() -> decltype(auto) {
        return call_task(body.f_,
                         context_access::make<Context>(on, recorded_places::position_of(body.run_.body_record())));
      });
    }
    body.run_.end();
    body.ended.complete();
    return nullptr;
  }

  F& f_;
  recorded_region_run& run_;
  bool failed_ = false;
  outcome<task_result<Context, F>> out_;
};

/// A run whose steals are noted; inside another one it is a part of that.
template <class Context, class F>
decltype(auto) run_recorded(region& r, Context const& c, F& f) {
  region_access const memory{r};
  fiber& on = context_access::fiber_of(c);
  fork_slot* const position = context_access::position_of(c);
  if (recorded_places::has_record(position) && recorded_run::of(recorded_places::record_of(position)) != nullptr) {
    memory.tree() = {};
    memory.note() = "a part of another region's run, whose steal tree has what was stolen";
    return call_task(f, c);
  }
  recorded_region_run run{memory, on};
  finished_at_end<recorded_region_run> const finish{run};
  if (!run.follows()) {
    run.begin();
    struct ending {
      recorded_region_run& run;
      ~ending() { run.end(); }
    } const end{run};
    return call_task(f, context_access::make<Context>(on, recorded_places::position_of(run.body_record())));
  }
  followed_body<Context, F> body{f, run, on.interrupt};
  on.home.make_runnable_on(*on.home.workers[run.body_worker()], body);
  on.wait_for(body.ended);
  if constexpr (std::is_void_v<task_result<Context, F>>) {
    static_cast<void>(body.result());
  } else {
    return body.result();
  }
}

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/fork/recorded_entry.ipp"
#endif
