// What a task_graph holds: tasks and edges as they are built, the layout they run in, and the run in progress.
#pragma once

#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <memory>  // unique_ptr, shared_ptr
#include <string>
#include <unordered_map>
#include <vector>

#include "heist/base/config.hpp"
#include "heist/base/env.hpp"
#include "heist/base/errors.hpp"
#include "heist/graph/join_counter.hpp"
#include "heist/graph/limiter.hpp"
#include "heist/graph/node.hpp"
#include "heist/graph/run_state.hpp"
#include "heist/memory/arena.hpp"
#include "heist/sched/core.hpp"
#include "heist/sync/spin_lock.hpp"

namespace heist::detail {

/// Built by one thread at a time, run by any; README.md explains the layout and how a run ends.
struct graph_data : tally_keeper {
  graph_data() : tally_keeper{&add_tally} {
    starter.graph = ender.graph = this;
    starter.run = &start_pass;
    starter.what = &starter_what;
    ender.run = &end_pass;
    ender.what = &starter_what;
  }
  graph_data(graph_data const&) = delete;
  graph_data& operator=(graph_data const&) = delete;
  ~graph_data() {
    destroy_nodes();
    for (run_state* r : states) r->release();
  }

  // ---- building (build.hpp) ----
  template <class Node, class... Args>
  Node& make_node(std::uint32_t index, Args&&... args);
  std::uint32_t add_node_slot();
  void add_edge(std::uint32_t from, std::uint32_t to, bool carries_value);
  void erase_node(std::uint32_t index);
  void erase_edges(std::uint32_t from, std::uint32_t to);
  void clear();
  /// Throws graph_error if a run is in progress; what was laid out is void from here on.
  void about_to_change(char const* what);
  void destroy_nodes() noexcept;
  std::string task_name(std::uint32_t index) const;

  // ---- layout (layout.hpp) ----
  /// Makes records of nodes. Throws graph_error for a cycle or when no task can start.
  void lay_out();

  // ---- running (run.hpp) ----
  template <class... Options>
  graph_run start(core& home, std::size_t passes, unique_function<bool()> again, Options&&... options);
  run_state& prepare_run(core& home);
  void enqueue(run_state& r);
  void start_nested(record& outer, core& home);
  void wait_until_idle() noexcept;
  /// One task more is ready or running, in a graph where tasks are chosen by conditions.
  void token_added() noexcept { tokens.fetch_add(1, std::memory_order_relaxed); }  // relaxed: before it is pushed
  void token_gone(worker& w) {
    // acq_rel: the last one sees what all did
    if (tokens.fetch_sub(1, std::memory_order_acq_rel) == 1) pass_ended(w);
  }
  void pass_ended(worker& w);
  void conclude(run_state& r, fiber& on);
  static runnable* end_pass(runnable& self, fiber& on);
  static void add_tally(tally_keeper& self, std::uint32_t n, worker& w);
  static runnable* start_pass(runnable& self, fiber& on);
  static task_view describe_starter(runnable const& self) noexcept { return {task_kind::start, &self, nullptr}; }
  static inline constexpr described_operations starter_operations{&describe_starter};
  static inline constexpr described starter_what{&starter_operations};

  struct starter_item : queued_runnable {
    graph_data* graph;
  };

  // Read by every task of a run.
  record* records = nullptr;
  join_counter* counters = nullptr;
  successor const* successors = nullptr;
  run_state* current = nullptr;
  bool counts_tokens = false;  ///< tasks are chosen by conditions: tokens are counted instead of tasks

  // Built.
  arena memory;
  std::vector<node*> nodes;  ///< by index; null where erased
  std::vector<edge> edges;
  std::size_t erased = 0;
  std::unordered_map<std::uint32_t, std::string> names;
  std::vector<std::unique_ptr<limited_task>> limits;
  struct part {
    std::uint32_t task;
    std::shared_ptr<graph_data> graph;
  };
  std::vector<part> parts;       ///< graphs that tasks of this one run
  std::uint32_t generation = 0;  ///< counts calls of clear(), after which old handles refer to nothing
  std::string title;

  // Laid out.
  std::unique_ptr<record[]> owned_records;
  std::unique_ptr<join_counter[]> owned_counters;
  std::unique_ptr<successor[]> owned_successors;
  std::vector<std::uint32_t> sources;  ///< positions
  std::uint32_t record_count = 0;
  bool laid_out = false;

  // Running.
  spin_lock<> lock;  ///< guards current, the line behind it, laid_out and states
  run_state* last_in_line = nullptr;
  std::vector<run_state*> states;  ///< reused when neither a run nor a handle refers to them: one per worker, at most
  starter_item starter{};          ///< begins a pass
  starter_item ender{};            ///< ends a pass by calling user code
  os_env::atomic<bool> running{false};
  alignas(cache_line_size) os_env::atomic<std::uint32_t> remaining{0};  ///< tasks of this pass not yet reported
  os_env::atomic<std::uint32_t> tokens{0};                              ///< tasks ready or running
};

/// After the work of a task: makes its successors ready. Returns the first of them to run next; pushes the others.
inline runnable* finish(record& r, fiber& on) {
  graph_data& g = *r.graph;
  worker* w = on.on;
  successor const* s = g.successors + r.first_successor;
  successor const* const end = g.successors + (&r)[1].first_successor;
  runnable* next = nullptr;
  if (!g.counts_tokens) [[likely]] {
    w->count_for(g);
    if (!w->alone && end - s > 1) {
      for (successor const* p = s; p != end; ++p) __builtin_prefetch(&g.counters[p->position()], 1);
    }
    for (; s != end; ++s) {
      if (!s->direct() && !g.counters[s->position()].arrive(w->alone)) continue;
      if (next == nullptr) {
        next = &g.records[s->position()];
      } else {
        __builtin_prefetch(&g.records[s->position()]);
        w = &on.home.push(*w, g.records[s->position()]);
      }
    }
  } else {
    for (; s != end; ++s) {
      if (!s->direct() && !g.counters[s->position()].arrive(w->alone)) continue;
      if (next == nullptr) {
        next = &g.records[s->position()];  // takes over this task's token
      } else {
        g.token_added();
        w = &on.home.push(*w, g.records[s->position()]);
      }
    }
    if (next == nullptr) g.token_gone(*w);
  }
  return next;
}

}  // namespace heist::detail
