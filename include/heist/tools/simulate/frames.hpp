// How a simulated worker runs a task: its stages, forks and joins (core/fork/parent_first.hpp,
// core/fork/child_first.hpp, core/fork/join_stolen.hpp), and its end.
#pragma once

#include <cstdint>
#include <utility>  // exchange
#include <vector>

#include "heist/core/base/config.hpp"
#include "heist/tools/simulate/state.hpp"

namespace heist::sim {

/// The half of a simulation that works. Each function is a moment in which a step takes effect; advance() spends the time
/// between.
class frames : protected state {
 protected:
  using state::state;
  ~frames() = default;

  // --- a task from its begin to its end ---

  /// Task `t` begins on `w`, on top of the frame `caller`.
  void begin(worker& w, std::uint32_t t, started how, std::uint32_t caller);

  void begin_stage(worker& w, std::uint32_t t);

  void end_work(worker& w);

  void next_stage(worker& w, std::uint32_t t) {
    if (++tasks_[t].stage != program_.task_at(t).stages) return begin_stage(w, t);
    end(w, t);
  }

  void end(worker& w, std::uint32_t t);

  /// A child has ended that its parent has not called, or not any more.
  void ended_for(worker& w, std::uint32_t child);

  // --- forks ---

  fork_kind kind_of_fork(std::uint32_t t) noexcept;

  void fork(worker& w, std::uint32_t t, stage const& now);

  /// The fork has taken its time.
  void call_next(worker& w);

  void call_child_first(worker& w, std::uint32_t t, stage const& now);

  // --- joins ---

  /// After each step: frames whose children have ended in it resume. They do not resume at once, as there may be very
  /// many of them.
  void return_to_callers(worker& w) {
    while (w.returns_to != none) child_returned(w, std::exchange(w.returns_to, none));
  }
  /// The frame `t` resumes on `w` after the child that it has called.
  void child_returned(worker& w, std::uint32_t t);

  /// Parent-first: the next child is taken back, or has been stolen.
  void join_next(worker& w);

  /// Child-first: all children have been called; those whose caller was stolen meanwhile may run still.
  void await_children(worker& w, std::uint32_t t, stage const& now);
  bool children_done(task_state& s, stage const& now) const noexcept {
    while (s.next != now.children && tasks_[now.first_child + s.next].done) ++s.next;
    return s.next == now.children;
  }

  void park(worker& w, std::uint32_t t, std::uint32_t child);
  std::uint32_t last_child(std::uint32_t t) const noexcept {
    stage const& now = program_.stage_at(t, tasks_[t].stage);
    return now.first_child + now.children - 1;
  }

  /// Leap-frogging: `w.task` waits for a child, and runs what the child's thief has forked.
  void wait_for_thief(worker& w);
  void stolen_from_thief(worker& w);

  // --- taking.hpp: stealing, and going on ---

  /// Takes the oldest child that `from` offers; there is one.
  void steal_published(worker& w, worker& from);
  void steal_continuation(worker& w, worker& from);
  void overtake(std::uint32_t t) noexcept;
  void stolen(worker& w, worker& from, item i);
  /// Begins or resumes the item that the worker has taken.
  void use_hand(worker& w);
  /// A frame of an inter-squad task's subtree has changed its worker, or waited.
  void note_place(worker const& w, item i);
  /// Takes `i` in hand, and charges the costs of its kind before it starts.
  void take_in_hand(worker& w, item i);
  /// A frame that has waited.
  void make_ready(worker& w, std::uint32_t t);
  void resume(worker& w, std::uint32_t t);
  /// The worker's task is over, or waits: the worker looks into its own pools (Algorithm 3).
  void take_up(worker& w);
  void set_active(worker& w);
  void set_inactive(worker& w) noexcept;

  static ticks times(duration d, std::uint32_t n, worker& w) noexcept {
    return n == 0 ? 0 : draw({d.mean * n, d.law}, w);
  }

  // --- mailbox.hpp: following a steal tree ---

  /// The rest of `t`, which calls `child`, goes to `thief` (donation).
  void donate(worker& w, std::uint32_t t, std::uint32_t child);
  /// Decides how a child-first child runs.
  heist::detail::followed_way way_of_child(worker& w, std::uint32_t t, std::uint32_t child, bool last);
  /// locality/replay/followed.ipp, followed_parent::join, and what follows it: a frame that waits only once.
  void join_followed(worker& w, std::uint32_t t, stage const& now);
  void make_followed_ready(worker& w, std::uint32_t t);
  void resume_followed(worker& w, std::uint32_t t);
  void notify_of_mail(worker* from, std::uint32_t to);
  auto told_by(worker* from) noexcept {
    return [this, from](std::uint32_t to) { notify_of_mail(from, to); };
  }
  /// Its own fibers, then its mail.
  item take_mail(worker& w);
  void submit_next_run();
  /// False if another worker is to begin the run.
  bool begin_following(worker& w, run const& r);
  /// Gives up the order of the tree, because no worker has an event. False if no worker waits for its turn.
  bool give_up_order();

  // --- inter_frames.hpp, runs.hpp ---

  void start_inter_children(worker& w, std::uint32_t t, stage const& now);
  void begin_inter(worker& w, std::uint32_t t);
  void end_inter(worker& w, std::uint32_t t);
  void start_body(worker& w, std::uint32_t t);
  void enter_squad(worker& w, std::uint32_t t);
  void leave_squad(worker& w, std::uint32_t t);

  void begin_run(worker& w);
  void end_run(worker& w);
  void push_but_first(worker& w, std::vector<std::uint32_t> const& ready);
  void end_node(worker& w, std::uint32_t t);
};

}  // namespace heist::sim

#if HEIST_HEADER_ONLY
#include "heist/tools/simulate/frames.ipp"
#endif
