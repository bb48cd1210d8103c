// Forks of frames in the inter-squad tier (CAB, Algorithm II (a); CATS, section 3.4), and of frames that are profiled.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>  // index_sequence, move

#include "heist/base/config.hpp"
#include "heist/base/env.hpp"
#include "heist/fork/child_first.hpp"
#include "heist/fork/elsewhere.hpp"
#include "heist/fork/join_stolen.hpp"
#include "heist/fork/outcome.hpp"
#include "heist/fork/parent_first.hpp"
#include "heist/fork/region_run.hpp"
#include "heist/policy/path.hpp"
#include "heist/sched/context.hpp"

namespace heist::detail {

/// A frame whose forks make inter-squad tasks: the paper's `level` and its place in the tree. It lies in the frame that
/// calls the task.
struct inter_frame {
  region_run* run;
  fork_slot* position;    ///< where the frame forks otherwise
  squad_task* task;       ///< what runs here
  std::uint64_t path;     ///< a hash of the spawn indices from the region's body to here
  std::uint32_t level;    ///< the region's body is 1
  std::uint32_t entry;    ///< in the profile
  std::uint32_t spawned;  ///< children so far
};

/// The children that a frame waits for: the paper's `inter_counter`.
struct inter_join {
  explicit inter_join(std::size_t children) noexcept : outstanding{static_cast<std::uint32_t>(children)} {}

  void child_ended() noexcept {
    // acq_rel: the last one, and through it the parent, sees what all did
    if (outstanding.fetch_sub(1, std::memory_order_acq_rel) == 1) all_ended.complete();
  }
  /// Suspends the frame of `frame` until all have ended; its squad is free meanwhile.
  void wait(fiber& on, inter_frame& frame) {
    frame.task->suspended = true;
    on.wait_for(all_ended);
    frame.task->suspended = false;
  }

  os_env::atomic<std::uint32_t> outstanding;
  completion all_ended;
};

/// An inter-squad task: where it is in the tree and what it runs. `call(fiber, Context)` runs the task's function.
class inter_task : public pooled_runnable {
 public:
  inter_task(run_function function, inter_frame const& parent, std::uint32_t index,
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
  /// The region's body.
  inter_task(run_function function, region_run& of, interrupt_state const* outer) noexcept
      : pooled_runnable{{{function, &fork_what}, nullptr}, nullptr, nullptr}, run_{&of}, path_{0}, level_{1} {
    place(outer);
    if (run_->how() == division::by_profile) entry_ = region_profile::root;
  }

  /// To the squad that ran it last, or `otherwise`.
  void start(squad& otherwise) noexcept { start_in(run_->squad_for(path_, otherwise), false); }
  void start_pinned(squad& to) noexcept { start_in(to, true); }

  /// What its forks are: the paper's leaf inter-socket tasks fork intra-squad tasks.
  bool is_leaf() const noexcept {
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

 protected:
  /// Whatever its level: its forks are intra-squad tasks.
  void become_leaf() noexcept { leaf_ = true; }

  /// On the head of a squad that has just taken it, or in its parent's place if there is no memory for a stack.
  /// `call(context)` must not throw.
  template <class Context, class Call>
  void run_on(fiber& on, bool in_place, Call&& call) noexcept {
    on.on->report_tally();
    if (in_place) {
      interrupt_.bound = on.bound();  // a part of what runs here
    } else {
      worker const& w = *on.on;  // kept: until the callable begins
      task_.in = w.in;
      task_.holds = !w.takes_beside;
      task_.level = level_;
      if (w.in != remembered_) run_->ran_in(path_, w.in->number);
    }
    interrupted_above const part_of{on, &interrupt_};
    if (!in_place) tell(on, fiber_event::enters);
    fork_slot* const top = on.top();
    inter_frame frame{run_, top, interrupt_.bound, path_, level_, entry_, 0};
    call(context_access::make<Context>(on, is_leaf() ? context_access::marked(top, tier_mark::intra)
                                                     : context_access::marked(&frame, tier_mark::inter)));
    // Perhaps on another worker now, of the same squad.
    if (in_place) return;
    tell(on, fiber_event::leaves);
    on.home.release_squad(*on.on, task_);
  }

 private:
  void start_in(squad& to, bool pinned) noexcept {
    auto& squads = run_->home().squads;
    if (pinned) {
      squads.add_pinned(to, *this);
    } else {
      remembered_ = &to;
      squads.add(to, *this);
    }
  }
  void place(interrupt_state const* outer) noexcept {
    interrupt_.outer = outer;
    interrupt_.bound = &task_;
  }

  region_run* run_;
  std::uint64_t path_;
  std::uint32_t level_;
  std::uint32_t entry_ = region_profile::no_entry;
  bool leaf_ = false;
  squad* remembered_ = nullptr;  ///< where the region knows that it ran last
  squad_task task_;
  interrupt_state interrupt_;
};

/// One child of an inter-squad fork, in its parent's frame.
template <class Context, class F>
class inter_child : public inter_task {
 public:
  using result = task_result<Context, F>;
  struct arguments {
    F& f;
    inter_frame const& parent;
    std::uint32_t index;
    interrupt_state const* outer;
    inter_join& join;
  };
  explicit inter_child(arguments const& a) noexcept
      : inter_task{&run, a.parent, a.index, a.outer}, function_{std::addressof(a.f)}, join_{&a.join} {}
  inter_child(F& f, region_run& of, interrupt_state const* outer, inter_join& join) noexcept
      : inter_task{&run, of, outer}, function_{std::addressof(f)}, join_{&join} {}

  void run_in_place(fiber& on) noexcept { call(on, true); }

  bool failed() const noexcept { return failed_; }
  outcome<result>& out() noexcept { return out_; }

 private:
  static runnable* run(runnable& self, fiber& on) {
    auto& child = static_cast<inter_child&>(self);
    child.call(on, false);
    child.join_->child_ended();
    return nullptr;
  }

  void call(fiber& on, bool in_place) noexcept {
    this->template run_on<Context>(on, in_place, [this](Context c) {
      failed_ = out_.fill([&]() -> decltype(auto) { return call_task(*function_, c); });
    });
  }

  F* function_;
  inter_join* join_;
  bool failed_ = false;
  outcome<result> out_;
};

/// Makes sure that there is one in the list; false if there is no memory.
inline bool has_fiber(worker& w, fiber*& list, fiber& (core::*obtain)(worker&)) noexcept {
  if (list != nullptr) return true;
  try {
    fiber& f = (w.home.*obtain)(w);
    f.next_spare = list;
    list = &f;
    return true;
  } catch (...) {
    return false;
  }
}
/// Does the next wait on `w` find a fiber to go on with?
inline bool may_suspend(worker& w) noexcept {
  return has_fiber(w, w.spare, &core::obtain_fiber);
}
/// Does the next child-first child find a stack?
inline bool may_start_child(worker& w) noexcept {
  return has_fiber(w, w.fresh, &core::obtain_fresh);
}

/// A fork in the inter-squad tier: every child goes to a squad's pool, and the frame is suspended until all have ended.
template <class Context, class... F>
class inter_squad_fork {
  static constexpr std::size_t count = sizeof...(F);

 public:
  using values = std::tuple<value_or_monostate<task_result<Context, F>>...>;

  HEIST_COLD static values run(fiber& on, inter_frame& frame, F&... f) {
    return run_all(std::index_sequence_for<F...>{}, on, frame, f...);
  }

 private:
  template <std::size_t... I>
  static values run_all(std::index_sequence<I...>, fiber& on, inter_frame& frame, F&... f) {
    std::uint32_t const first = frame.spawned;
    frame.spawned += count;
    inter_join join{count};
    std::tuple<inter_child<Context, F>...> children{typename inter_child<Context, F>::arguments{
        f, frame, first + static_cast<std::uint32_t>(I), on.interrupt, join}...};
    if (may_suspend(*on.on)) {
      // The head's end of a pool is the youngest: so it goes on with the first, in the order of the serial program.
      squad& own = *on.on->in;
      (std::get<count - 1 - I>(children).start(own), ...);
      join.wait(on, frame);
    } else {
      (std::get<I>(children).run_in_place(on), ...);
    }
    return take_all<values>({std::get<I>(children).failed()...}, std::get<I>(children).out()...);
  }
};

/// A frame of a region's first run: what it does itself is counted, between its forks.
class profile_frame {
 public:
  profile_frame(region_run& run, std::uint32_t task, fiber& on, fork_slot* position) noexcept
      : run_{&run}, on_{&on}, position_{position}, task_{task} {
    go_on();
  }
  profile_frame(profile_frame const&) = delete;
  profile_frame& operator=(profile_frame const&) = delete;
  ~profile_frame() {
    pause();
    run_->recorded(task_, own_);
  }

  /// On the worker that the frame is on then: counters are of cores.
  void go_on() noexcept {
    counters_ = on_->home.read_counters(*on_->on);
    ticks_ = os_env::ticks();
  }
  void pause() noexcept {
    own_.ticks += os_env::ticks() - ticks_;
    counter_values const now = on_->home.read_counters(*on_->on);
    own_.private_misses += now.private_misses - counters_.private_misses;
    own_.l1_misses += now.l1_misses - counters_.l1_misses;
    own_.instructions += now.instructions - counters_.instructions;
  }
  void declare(std::uint64_t bytes) noexcept { own_.declared_bytes = add_saturated(own_.declared_bytes, bytes); }

  region_run& run() const noexcept { return *run_; }
  fork_slot* position() const noexcept { return position_; }
  std::uint32_t task() const noexcept { return task_; }
  std::uint32_t spawn(std::uint32_t children) noexcept { return std::exchange(spawned_, spawned_ + children); }

 private:
  region_run* run_;
  fiber* on_;
  fork_slot* position_;
  std::uint32_t task_;
  std::uint32_t spawned_ = 0;
  task_counts own_;
  counter_values counters_;
  std::uint64_t ticks_ = 0;
};

/// While something runs in the place of a frame that is measured, if it is.
class profile_pause {
 public:
  explicit profile_pause(profile_frame* frame) noexcept : frame_{frame} {
    if (frame_ != nullptr) frame_->pause();
  }
  profile_pause(profile_pause const&) = delete;
  profile_pause& operator=(profile_pause const&) = delete;
  ~profile_pause() {
    if (frame_ != nullptr) frame_->go_on();
  }

 private:
  profile_frame* frame_;
};

/// Equal for equal callables' types.
template <class F>
inline constexpr char function_identity = 0;

/// Calls a child of a frame that is profiled, measured.
template <class Context, class F>
struct profiled_child {
  task_result<Context, F> operator()(Context c) const {
    std::uint32_t const task = run->record(parent, index, &function_identity<F>);
    if (task == region_run::not_recorded) return call_task(*function, c);
    profile_frame frame{*run, task, context_access::fiber_of(c), context_access::unmarked<fork_slot>(c)};
    return call_task(*function, context_access::make<Context>(context_access::fiber_of(c),
                                                              context_access::marked(&frame, tier_mark::profiled)));
  }
  F* function;
  region_run* run;
  std::uint32_t parent;
  std::uint32_t index;
};

/// A fork of a frame that is profiled: traditional, parent-first.
template <class Context, class... F>
struct profiled_fork {
  using values = std::tuple<value_or_monostate<task_result<Context, F>>...>;

  HEIST_COLD static values run(fiber& on, profile_frame& frame, F&... f) {
    return run_all(std::index_sequence_for<F...>{}, on, frame, f...);
  }

 private:
  template <std::size_t... I>
  static values run_all(std::index_sequence<I...>, fiber& on, profile_frame& frame, F&... f) {
    profile_pause const paused{&frame};
    std::uint32_t const first = frame.spawn(sizeof...(F));
    auto children = std::make_tuple(profiled_child<Context, F>{std::addressof(f), &frame.run(), frame.task(),
                                                               first + static_cast<std::uint32_t>(I)}...);
    return parent_first_fork<Context, profiled_child<Context, F>...>::run(on, frame.position(),
                                                                          std::get<I>(children)...);
  }
};

/// A fork where the policy has tiers, of a frame that is not flat.
template <class Context, class... F>
HEIST_COLD std::tuple<value_or_monostate<task_result<Context, F>>...> tier_fork(Context c, bool inter, F&... f) {
  fiber& on = context_access::fiber_of(c);
  if (!on.runs_here()) {  // the frame is another task's, which may run
    fiber& here = fiber_of_caller(on);
    if (&here != &on) {
      fork_slot* const at = position_here(here);
      return here.bound() != nullptr ? child_first_fork<Context, F...>::run(here, at, f...)
                                     : parent_first_fork<Context, F...>::run(here, at, f...);
    }
  }
  if (context_access::mark_of(c) == tier_mark::profiled)
    return profiled_fork<Context, F...>::run(on, *context_access::unmarked<profile_frame>(c), f...);
  auto& frame = *context_access::unmarked<inter_frame>(c);
  if (frame.run->how() == division::by_hand && !inter) {
    return child_first_fork<Context, F...>::run(on, context_access::marked(frame.position, tier_mark::intra), f...);
  }
  return inter_squad_fork<Context, F...>::run(on, frame, f...);
}

}  // namespace heist::detail
