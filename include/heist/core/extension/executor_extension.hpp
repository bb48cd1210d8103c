// What a policy may add to an executor: one interface for each concern. The core calls what is there, and knows no policy.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <string>

#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/sync/idle_gate.hpp"

namespace heist::detail {

class core;
class fiber;
class fork_extension;
class graph_recall;
class graph_tuner;
struct caller_frame;
struct graph_data;
struct worker;

/// How workers sleep.
///
/// Threads  make_gates() before there are any; the rest by any worker.
class sleep_extension {
 public:
  /// Gives every worker a gate to sleep at; returns the one where work from outside is announced.
  virtual idle_gate<>* make_gates(core&, idle_config) = 0;
  /// May `thief` find something that the core does not know of? Asked before it sleeps.
  virtual bool may_take(worker const& thief) const noexcept = 0;
  /// How many workers search.
  virtual std::uint32_t thieves() const noexcept = 0;

 protected:
  ~sleep_extension() = default;
};

/// The note that a thief makes of a frame that it takes.
struct frame_note {
  void const* frame = nullptr;  ///< null: nothing
  std::uint32_t branch = 0;
};

/// Is notified of continuations that are stolen.
///
/// Threads  by the thief.
class steal_extension {
 public:
  /// Of a frame that is being stolen, while it stands still.
  virtual frame_note note_of(caller_frame const&) const noexcept = 0;
  /// It has been.
  virtual void stolen(frame_note const&, worker const& thief, worker const& victim) const noexcept = 0;

 protected:
  ~steal_extension() = default;
};

/// Stores something with each graph, which takes part in its runs (graph/recall.hpp).
///
/// Threads  any.
class graph_extension {
 public:
  /// Throws bad_alloc.
  virtual unique_ptr<graph_recall> make_recall() const = 0;

 protected:
  ~graph_extension() = default;
};

/// Other executors, which do a part of this one's work.
///
/// Threads  any.
class remote_extension {
 public:
  /// The tuner that finds out which executor is to run a graph, if that is open; null: this one is. Throws bad_alloc.
  virtual graph_tuner* tuner_of(graph_data&) = 0;
  /// How many workers they have, made or not; and which of them one is: a number below that, or that.
  virtual std::size_t workers_remote() const noexcept = 0;
  virtual std::size_t number_remote(worker const&) const noexcept = 0;
  bool has_remote(worker const& w) const noexcept { return number_remote(w) != workers_remote(); }
  /// Returns when all work that was begun there has ended; false if there was none since `seen`, which is 0 at first
  /// and is set: each waiter has its own.
  virtual bool wait_remote(std::uint64_t& seen) = 0;

 protected:
  ~remote_extension() = default;
};

/// What a policy adds to one executor. Constant once it is made.
///
/// Threads  any.
class executor_extension {
 public:
  executor_extension() = default;
  executor_extension(executor_extension const&) = delete;
  executor_extension& operator=(executor_extension const&) = delete;
  virtual ~executor_extension() = default;

  /// May the code on `f` be resumed later, perhaps on another worker, although it waits for nothing?
  virtual bool may_suspend(fiber const&) const noexcept { return true; }
  /// May another thread run `f`'s worker while what runs on `f` blocks the present one?
  virtual bool may_leave_worker(fiber const&) const noexcept { return false; }
  /// For core::state_text().
  virtual std::string state_text() const { return {}; }

  // Null: nothing.
  sleep_extension* sleep = nullptr;
  steal_extension const* steals = nullptr;
  graph_extension* graphs = nullptr;
  remote_extension* executors = nullptr;
  fork_extension* forks = nullptr;  ///< where the order leaves forks to it (core/fork/fork_extension.hpp)
};

}  // namespace heist::detail
