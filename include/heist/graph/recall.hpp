// What a graph that remembers asks of the folder above it (locality/history/), and what users wish for its tasks. Graphs that never
// ran under a policy with memory have neither.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <string>

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/base/vector.hpp"

namespace heist::detail {

class core;
class fiber;
struct graph_data;
struct record;
struct run_state;
struct runnable;

/// The memory of a graph, and what becomes of its tasks because of it.
///
/// Threads  check() by any, also during a run; what belongs to a run by its workers; the rest between runs.
class graph_recall {
 public:
  virtual ~graph_recall() = default;

  /// Called before a run by `scheduler`. Throws graph_error if this executor cannot obey the hints, or cannot follow
  /// the record.
  virtual void check(graph_data const& g, core const& scheduler) = 0;
  /// A pass of `g.current` is about to begin. False: it runs as any other, because there is no memory for more.
  virtual bool pass_begins(graph_data& g, core& scheduler) noexcept = 0;
  /// Makes the tasks runnable that nothing precedes; returns what to run first.
  virtual runnable* begin(fiber& self) = 0;
  /// In the place of detail::finish().
  virtual runnable* finish(record& r, fiber& self) = 0;
  /// All passes are over, and all tasks have ended.
  virtual void run_ends(run_state& r) noexcept = 0;
  /// The next run is to be one without memory.
  virtual void detach(graph_data& g) noexcept = 0;

  virtual void forget() noexcept = 0;
  virtual std::string explain() const = 0;
};

/// Finds out which executor is best for a graph (locality/automatic/).
///
/// Threads  any.
class graph_tuner {
 public:
  virtual ~graph_tuner() = default;

  /// A run is about to be started with `asked`. Returns the executor that is to do it, which lives as long as `asked`.
  /// `passes`: 0 if that is not known.
  virtual core& run_starts(graph_data& g, core& asked, std::size_t passes) = 0;
  /// It has ended, all but its callback and what it tells; null: it was not started.
  virtual void run_ends(run_state const* r) noexcept = 0;
  /// Gives the graph its own memory back, with the order that follow() set. Called before another executor runs the graph,
  /// and before follow(). Does nothing while the graph runs.
  virtual void detach(graph_data& g) noexcept = 0;

  virtual void forget() noexcept = 0;
  virtual std::string explain() const = 0;
};

/// Where a task is wished to run, and what it touches.
struct task_hint {
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  std::uint32_t created = none;  ///< `created` of its task
  std::uint32_t worker = none;
  std::uint32_t squad = none;
  std::uint64_t bytes = 0;
};

struct task_hints {
  vector<task_hint> all;      ///< by index of the task
  std::uint32_t changes = 0;  ///< how often they have changed
  bool are_followed = false;  ///< by runs under policies that follow (task_graph::follow_placement)
};

/// What an extension stores with a graph.
struct graph_extension_data {
  graph_extension_data() = default;
  graph_extension_data(graph_extension_data const&) = delete;
  graph_extension_data& operator=(graph_extension_data const&) = delete;
  HEIST_RARE ~graph_extension_data();

  os_env::atomic<graph_recall*> recall{nullptr};  ///< made by the first run under a policy with memory
  graph_recall* recalled = nullptr;               ///< the run in progress's: null if it remembers nothing
  unique_ptr<task_hints> hints;                   ///< null: none
  os_env::atomic<graph_tuner*> tuner{nullptr};    ///< made by the first run under policy::automatic
};

/// The wishes for the tasks of a graph, made if there are none. Throws bad_alloc.
task_hints& hints_of(graph_data& g);
/// The wishes for a task, to be changed. Throws graph_error while the graph runs; bad_alloc.
task_hint& hint_of(graph_data& g, std::uint32_t index);
/// As above, of a number of a worker or squad. Throws graph_error for one that no machine has.
void hint_worker(graph_data& g, std::uint32_t index, std::size_t number);
void hint_squad(graph_data& g, std::uint32_t index, std::size_t number);

}  // namespace heist::detail
