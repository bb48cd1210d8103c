// The part of an executor that a room adds. Rooms are parts above the core that know where work belongs, by squads or
// by a steal tree. The core knows their common interface, and no single room.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <string>

#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/sync/idle_gate.hpp"

namespace heist::detail {

class core;
class fiber;
class graph_tuner;
class graph_recall;
class others;
struct caller_frame;
struct graph_data;
struct runnable;
struct worker;

/// A call to make once a fiber has been left and another worker may have resumed it; empty: none.
struct deferred_call {
  void (*after)(void* of) noexcept = nullptr;
  void* of = nullptr;
};

/// The place at which a fiber is resumed that has waited: of a task and everything that it forks
/// (interrupt_state::resumes), or of one wait (fiber::resumes).
///
/// Threads  make_ready() by any; the rest by the fiber's worker.
class resume_rule {
 public:
  /// `f`, which has been left completely, may be resumed: puts it where a worker finds it.
  virtual void make_ready(fiber& f) noexcept = 0;
  /// `f` has just been left, and no worker can resume it before this returns.
  virtual deferred_call left(fiber&) noexcept { return {}; }
  /// `w` is about to resume `f`.
  virtual void returned(fiber&, worker&) noexcept {}
  /// Of one wait: `f` is about to be left, or, if not `is_left`, to wait on top of other work of its worker.
  virtual void leaves(fiber&, bool /*is_left*/) noexcept {}

  /// The code that runs under it waits for something that it has not forked. Returns the argument of
  /// wait_outside_ends().
  virtual void* wait_outside_begins() noexcept { return nullptr; }
  virtual void wait_outside_ends(void*) noexcept {}

 protected:
  ~resume_rule() = default;
};

/// Measures the work of a frame itself, without its waits and without other tasks that run on its stack meanwhile.
///
/// Threads  by the worker that the frame's fiber is on.
class frame_tracker {
 public:
  /// False if it had been stopped before; otherwise restart() follows, perhaps on another worker.
  virtual bool stop() noexcept = 0;
  virtual void restart() noexcept = 0;
  /// The task of a graph, if it measures one.
  virtual void const* measures_task() const noexcept { return nullptr; }

 protected:
  ~frame_tracker() = default;
};

/// The note that a thief makes of a frame that it takes.
struct frame_note {
  void const* frame = nullptr;  ///< null: nothing
  std::uint32_t branch = 0;
};

/// Where the tasks of a graph belong that remembers.
enum class task_affinity { none, squads, workers };

/// The part of a room that an executor has one of.
///
/// Threads  make_gates() before there are any; the rest by any worker.
class room_core {
 public:
  virtual ~room_core() = default;

  /// Gives every worker a gate to sleep at; returns the one where work from outside is announced, or null: one for all.
  virtual idle_gate<>* make_gates(core&, idle_config) { return nullptr; }
  /// May `thief` find something in the room? Asked before it sleeps.
  virtual bool may_take(worker const& /*thief*/) const noexcept { return false; }
  /// May the code on `f` be resumed later, perhaps on another worker, although it waits for nothing?
  virtual bool may_suspend(fiber const&) const noexcept { return true; }

  /// May `f`'s worker be carried by another thread while what runs on `f` blocks the present one?
  virtual bool may_leave_worker(fiber const&) const noexcept { return false; }

  /// Of a frame that is being stolen, while it stands still.
  virtual frame_note note_of(caller_frame const&) const noexcept { return {}; }
  /// It has been.
  virtual void stolen(frame_note const&, worker const& /*thief*/, worker const& /*victim*/) const noexcept {}

  /// Do graphs remember where their tasks ran?
  virtual task_affinity affinity_of_tasks() const noexcept { return task_affinity::none; }
  /// The memory of graphs, if they remember; the caller owns it. Throws bad_alloc.
  virtual graph_recall* make_recall() const { return nullptr; }
  /// Does the policy count cache misses, as far as is known?
  virtual bool counts_misses() const noexcept { return false; }
  /// The cache misses of the core that `w` runs on, since some moment. By `w`.
  virtual std::uint64_t read_misses(worker& /*w*/) noexcept { return 0; }
  /// A run of such a graph begins, and ends.
  virtual void graph_begins() noexcept {}
  virtual void graph_ends() noexcept {}

  /// The tuner that finds out which executor is to run a graph, if that is open; null: this one is. Throws bad_alloc.
  virtual graph_tuner* tuner_of(graph_data&) { return nullptr; }
  /// The executors that it has beside its own, if any.
  virtual others* other_executors() noexcept { return nullptr; }
  /// How many workers those have, made or not; and which of them one is: a number below that, or that.
  virtual std::size_t workers_remote() const noexcept { return 0; }
  virtual std::size_t number_remote(worker const&) const noexcept { return 0; }
  bool has_remote(worker const& w) const noexcept { return number_remote(w) != workers_remote(); }
  /// Returns when all work that was begun there has ended; false if there was none since `seen`, which is 0 at first
  /// and is set: each waiter has its own.
  virtual bool wait_remote(std::uint64_t& /*seen*/) { return false; }

  /// For core::state_text().
  virtual std::uint32_t thieves() const noexcept { return 0; }
  virtual std::string state_text() const { return {}; }
};

/// The part of a room in the worker loop. This one does nothing; rooms derive from it and hide the functions that they
/// replace. `Loop`: worker_loop<...>.
struct no_search {
  /// The room looks for work by itself, in look() and last_resort().
  static constexpr bool looks = false;
  /// Continuations are stolen within worker::group only.
  static constexpr bool in_groups = false;
  /// A worker without tasks takes requests before it looks at other workers.
  static constexpr bool requests_first = true;
  /// It wants to know the executor's options: keep_options(core&, options const&), before the workers start.
  static constexpr bool keeps_options = false;
  /// There is mail (core::give).
  static constexpr bool has_mail = false;
  /// The data that a worker keeps for it.
  template <class Victim>
  struct per_worker {};

  /// The core's part; null: none.
  template <class Scheduler>
  static unique_ptr<room_core> make(core&) {
    return nullptr;
  }

  /// Returns the worker's next runnable: `t` is from its own deque, or null.
  static runnable* next(worker&, runnable* t) noexcept { return t; }
  static void search_begins(worker&) noexcept {}
  static void search_ends(worker&) noexcept {}  ///< with something
  static void falls_asleep(worker&) noexcept {}
  static void is_awake(worker&) noexcept {}

  /// Is there something that only this worker takes, or it before all other workers?
  static bool called(worker const&) noexcept { return false; }
  /// Before the first attempt to steal, and before each.
  template <class Loop>
  static runnable* look_first(fiber&) {
    return nullptr;
  }
  template <class Loop>
  static runnable* look(fiber&) {
    return nullptr;
  }
  /// Does a worker without tasks steal only from the victims of look()? False after many failed attempts.
  static bool steals_near_only(worker const&) noexcept { return false; }
  /// Called after many failed attempts.
  template <class Loop>
  static runnable* last_resort(fiber&) {
    return nullptr;
  }
};

}  // namespace heist::detail
