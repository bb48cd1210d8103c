// The contents of a task_graph: tasks and edges as they are built, the layout they run in, and the run in progress.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>  // size_t
#include <cstdint>
#include <new>
#include <string>
#include <utility>  // forward

#include "heist/core/base/config.hpp"
#include "heist/core/base/env.hpp"
#include "heist/core/base/priority.hpp"
#include "heist/core/base/spin_lock.hpp"
#include "heist/core/base/unique_ptr.hpp"
#include "heist/core/base/vector.hpp"
#include "heist/core/memory/arena.hpp"
#include "heist/core/scheduler/core.hpp"
#include "heist/core/sync/completion.hpp"
#include "heist/graph/join_counter.hpp"
#include "heist/graph/limiter.hpp"
#include "heist/graph/node.hpp"
#include "heist/graph/recall.hpp"
#include "heist/graph/run_state.hpp"
#include "heist/graph/task_names.hpp"

namespace heist::detail {

struct adjacency;
struct value_consumers;

/// Built by one thread at a time, run by any; README.md explains the layout and how a run ends.
struct graph_data : pending_count_holder {
  graph_data();
  graph_data(graph_data const&) = delete;
  graph_data& operator=(graph_data const&) = delete;

  void retain() noexcept { owners.fetch_add(1, std::memory_order_relaxed); }  // relaxed: the caller owns it already
  /// Destroys a graph that has no owner any more, and with it what it alone is composed of.
  static void release(graph_data* g) noexcept;

  // ---- building ----
  /// Adds a task, and room for as many edges; all or nothing. What the user's constructor throws passes through.
  template <class Node, class... Args>
  Node& add_node(std::size_t expected_edges, Args&&... args);
  /// Puts a task into the place of `old`, whose index other objects know. It keeps its edges, limits and name.
  template <class Node, class... Args>
  void replace_node(std::uint32_t index, Args&&... args);
  void add_edge(std::uint32_t from, std::uint32_t to, bool is_value_edge);
  void set_priority(std::uint32_t task, priority how);
  priority priority_of(std::uint32_t task) const noexcept {
    return priorities == nullptr || task >= priorities->size() ? priority::normal : (*priorities)[task];
  }
  void add_part(std::uint32_t task, graph_owner const& inner);
  void erase_node(std::uint32_t index);
  void erase_edges(std::uint32_t from, std::uint32_t to);
  /// Erases the tasks that were added since `births` was `first`.
  void erase_since(std::uint32_t first) noexcept;
  /// One input of a task that is about to be added.
  struct input_note {
    std::uint32_t from;
    bool is_taken;
  };
  /// Throws graph_error if a value would be taken twice, or by a task that also reads it.
  void reject_consumers(input_note const* inputs, std::size_t count) const;
  void add_consumers(input_note const* inputs, std::size_t count, std::uint32_t consumer);
  void clear();
  /// Is a run in progress?
  bool is_running() const noexcept {
    return running.load(std::memory_order_acquire);  // acquire: a change after a run comes after all of it
  }
  /// Throws graph_error if a run is in progress.
  void reject_while_running(char const* what) const;
  /// As above. A callback or a predicate of the run in progress may pass, because no pass of the run is in progress.
  /// Policies with memory refuse these, too: they know the tasks of the run by their places.
  void reject_in_pass(char const* what) const {
    if (is_running()) [[unlikely]]
      reject_unless_between_passes(what);
  }
  HEIST_RARE void reject_unless_between_passes(char const* what) const;
  /// As above; the old layout is void from here on.
  void about_to_change(char const* what);
  HEIST_RARE void change_between_passes(char const* what);
  /// Has a callback changed the graph, and the run that it belongs to, or the next one, not laid it out yet? Under the lock.
  bool changed_by_run() const noexcept { return changed && current != nullptr; }
  void destroy(node* n) noexcept;
  std::string task_name(std::uint32_t index) const;

  struct layout_end;
  struct release_layout_end;

  /// How many edges each task has, by index. Counted when first asked for, kept up by edits.
  struct edge_counts {
    vector<std::uint32_t> in, out;
  };
  edge_counts const& counted_edges() {
    // acquire: what count_edges() has counted, perhaps for another thread
    if (edge_counts const* const known = known_counts.load(std::memory_order_acquire)) return *known;
    return count_edges();
  }
  edge_counts const& count_edges();

  // ---- layout (layout.ipp) ----
  /// Makes records of nodes. Throws graph_error for a cycle or when no task can start.
  void lay_out();
  void write_records(adjacency const& a, std::size_t count);
  void make_room_for_records(std::size_t tasks, std::size_t links);
  /// Returns when the graph was laid out, by this thread or another, or may be changed again: look again.
  void lay_out_once(core& scheduler);
  void tell_edges(graph_listener& told) const noexcept;
  void warn_of_numbers() const;
  HEIST_RARE void warn_of_dead_tasks(adjacency const& a) const noexcept;
  HEIST_RARE void warn_of_joins() const noexcept;
  void find_events();
  void find_urgency(adjacency const& a);
  /// The run in progress begins tasks by their urgencies: where they have any, and none remembers their places.
  bool begins_in_order() const noexcept { return urgency != nullptr && recalled() == nullptr; }
  runnable::run_function run_of(node const& n) const noexcept;
  std::uint64_t urgency_of(record const& r) const noexcept { return urgency[static_cast<std::size_t>(&r - records)]; }
  void order_consumers();
  void balance_limits();
  void return_limits(bool interrupted);

  // ---- running (run.hpp) ----
  template <class... Options>
  graph_run start(core& asked, std::size_t passes, unique_function<bool()> again, Options&&... options);
  run_state& prepare_run(core& scheduler);
  HEIST_RARE void prepare_recall(core& scheduler);
  graph_recall& keep_recall(unique_ptr<graph_recall> made);
  /// What an extension stores. Made by the first call, which may be by any thread. Throws bad_alloc.
  HEIST_RARE graph_extension_data& extended();
  // Null where nothing is stored. acquire: a pointer that is not null points to a complete object
  graph_recall* recall() const noexcept {
    graph_extension_data* const stored = extension_data.load(std::memory_order_acquire);  // acquire: as above
    return stored == nullptr ? nullptr : stored->recall.load(std::memory_order_acquire);  // acquire: as above
  }
  graph_tuner* tuner() const noexcept {
    graph_extension_data* const stored = extension_data.load(std::memory_order_acquire);  // acquire: as above
    return stored == nullptr ? nullptr : stored->tuner.load(std::memory_order_acquire);   // acquire: as above
  }
  task_hints* hints() const noexcept {
    graph_extension_data* const stored = extension_data.load(std::memory_order_acquire);  // acquire: as above
    return stored == nullptr ? nullptr : stored->hints.get();
  }
  /// The memory of the run in progress; null: it remembers nothing.
  graph_recall* recalled() const noexcept {
    graph_extension_data* const stored =
        extension_data.load(std::memory_order_acquire);  // acquire: as above; another run may start meanwhile
    return stored == nullptr ? nullptr : stored->recalled;
  }
  HEIST_RARE bool recall_pass(core& scheduler) noexcept;
  void enqueue(run_state& r);
  void start_nested(record& outer, core& scheduler);
  /// Gives the graph up: waits for its runs, or, in a callback of one of them, leaves it to the last of them.
  static void let_go(graph_owner g);
  void wait_until_idle() noexcept;
  /// One report more is to come before the pass has ended: in a graph with conditions, of something ready to run.
  void count_one_more() noexcept { remaining.fetch_add(1, std::memory_order_relaxed); }  // relaxed: before it is pushed
  // Of its events, where it has any; the first two under the lock.
  void arm_events() noexcept;
  void tell_events() noexcept;
  void close_events() noexcept;
  void arm_again() noexcept;
  /// Before a pass, if a callback has changed the graph. False if it cannot be laid out: then the run has failed.
  HEIST_RARE bool lay_out_changed(run_state& r);
  struct ended_waits {
    queued_runnable* events = nullptr;
    wake_list<> limited;  ///< resumed when this ends
  };
  bool end_waits(run_state const& of, bool is_part, ended_waits& found) noexcept;
  void leave_lines(wake_list<>& found) noexcept;
  void pass_ended(worker& w);
  runnable* conclude(run_state& r, fiber& self);
  static runnable* end_pass(runnable& task, fiber& self);
  static void add_pending_count(pending_count_holder& self, std::uint32_t n, worker& w);
  static runnable* start_pass(runnable& task, fiber& self);
  void send_starter(run_state& r);
  static task_view view_of_starter(runnable const& self) noexcept { return {task_kind::start, &self, nullptr}; }
  static bool text_of_starter(runnable const& self, task_view& view) noexcept;
  static bool text_of_epilogue(runnable const& self, task_view& view) noexcept;
  static unsigned wave_of_run(runnable const& self) noexcept;
  static inline constexpr described_operations starter_operations{&text_of_starter, &wave_of_run},
      epilogue_operations{&text_of_epilogue, &wave_of_run};
  static inline constexpr described starter_what{&starter_operations}, epilogue_what{&epilogue_operations};

  struct starter_item : queued_runnable {
    graph_data* graph;
  };

  // Read by every task of a run.
  record* records = nullptr;
  join_counter* counters = nullptr;
  successor const* successors = nullptr;
  run_state* current = nullptr;
  bool counts_tokens = false;    ///< tasks are chosen by conditions: tokens are counted instead of tasks
  bool has_slow_finish = false;  ///< it does, tasks have urgencies, or the run in progress remembers

  // Built.
  arena memory;
  vector<node*> nodes;  ///< by index; null where erased, but never at the end
  vector<edge> edges;
  std::size_t erased = 0;              ///< nulls among `nodes`
  vector<std::uint32_t> free_indices;  ///< of them, and indices that were used again or are past the end
  std::uint32_t births = 0;            ///< tasks that were ever added
  bool indices_reused = false;         ///< some task has the index that another one had
  task_names names;
  bool has_conditions = false;              ///< it has, or had, a condition
  vector<unique_ptr<limited_task>> limits;  ///< null where the task was erased
  vector<std::uint32_t> free_limits;
  struct part {
    std::uint32_t task;
    graph_owner graph;
  };
  vector<part> parts;                     ///< graphs that tasks of this one run
  os_env::atomic<bool> is_a_part{false};  ///< of some graph, or it was
  unique_ptr<edge_counts> counts;
  /// The task that takes a value, by the task that leaves it (heist::take). Null where no task does.
  unique_ptr<value_consumers> consumers;
  bool may_have_events = false;
  /// By task: its way, where paths lead through other processes. Null: the layout finds the ways.
  unique_ptr<vector<std::uint32_t>> known_ways;
  unique_ptr<vector<priority>> priorities;  ///< by task; null, or too short: normal
  unique_ptr<edge_counts> cached_counts;    ///< memory of those before clear()
  os_env::atomic<edge_counts const*> known_counts{nullptr};
  std::string title;
  mutable bool warned = false;
  mutable bool warned_of_joins = false;

  // Laid out.
  // Empty, with room: the layout writes what a record is before it is read.
  vector<record> owned_records;
  vector<join_counter> owned_counters;
  vector<successor> owned_successors;
  std::size_t record_room = 0, successor_room = 0;  ///< of these; kept for the next layout, also by clear()
  vector<std::uint32_t> sources;                    ///< positions
  std::uint32_t record_count = 0;
  vector<limiter_balance> balances;  ///< the first balance_count of them, one for each limiter
  std::size_t balance_count = 0;
  vector<event_part*> events;
  unique_ptr<std::uint64_t[]> urgency;  ///< by position, for ready_offer; null where all tasks are equally urgent
  /// Told once by a task that the run in progress has failed.
  struct failure_listener {
    void (*tell)(void* to) = nullptr;
    void* to = nullptr;
  } on_failure;
  bool layout_valid = false;
  bool changed = false;            ///< by a callback of a run, since a pass began; the next pass looks
  std::uint32_t layout_count = 0;  ///< how many there have been
  layout_end* layout = nullptr;    ///< while a thread lays it out

  os_env::atomic<graph_extension_data*> extension_data{nullptr};  ///< null until something is stored (extended())

  // Running.
  mutable spin_lock<> lock;  ///< guards current, the line behind it, layout_valid, layout, counts and states
  run_state* last_in_line = nullptr;
  /// Reused when neither a run nor a handle refers to them; with more runs at a time the oldest gives way.
  std::array<run_state*, 8> states{};
  std::size_t oldest_state = 0;
  starter_item starter{};   ///< begins a pass
  starter_item epilogue{};  ///< ends a pass where more is to be done than a worker may do between two tasks
  os_env::atomic<bool> running{false};
  os_env::atomic<std::uint32_t> owners{1};
  graph_data* next_dead = nullptr;
  /// Reports that are to come before this pass has ended: tasks, or what is ready or running.
  alignas(cache_line_size) os_env::atomic<std::uint32_t> remaining{0};

 private:
  friend class graph_owner;
  ~graph_data();
  std::uint32_t free_index();
  void trim() noexcept;
};

// ---- building ----

/// Throws if `g` is among the graphs that `part` runs, at any depth. Only a graph that is part of another can be.
void reject_containing_itself(graph_data const& g, graph_data const& part);

/// Room for `more`, growing as push_back does.
template <class T>
void make_room(vector<T>& v, std::size_t more) {
  if (v.capacity() - v.size() < more) v.reserve(more > v.size() ? v.size() + more : 2 * v.size());
}

[[noreturn]] HEIST_RARE void reject_change(char const* what);
[[noreturn]] HEIST_RARE void reject_change_of_history(char const* what);
[[noreturn]] HEIST_RARE void reject_more_tasks();

inline void graph_data::reject_while_running(char const* what) const {
  if (is_running()) [[unlikely]]
    reject_change(what);
}

inline void graph_data::about_to_change(char const* what) {
  if (is_running()) [[unlikely]]
    return change_between_passes(what);
  layout_valid = false;
}

inline std::uint32_t graph_data::free_index() {
  while (!free_indices.empty()) {
    std::uint32_t const i = free_indices.back();
    if (i < nodes.size() && nodes[i] == nullptr) return i;
    free_indices.pop_back();
  }
  if (nodes.size() >= edge::value_bit) [[unlikely]]
    reject_more_tasks();
  make_room(nodes, 1);
  if (counts != nullptr) make_room(counts->in, 1), make_room(counts->out, 1);
  return static_cast<std::uint32_t>(nodes.size());
}

inline void graph_data::add_edge(std::uint32_t from, std::uint32_t to, bool is_value_edge) {
  about_to_change("add an edge");
  edges.push_back({from | (is_value_edge ? edge::value_bit : 0), to});
  if (counts != nullptr) ++counts->out[from], ++counts->in[to];
}

template <class Node, class... Args>
Node& graph_data::add_node(std::size_t expected_edges, Args&&... args) {
  about_to_change("add a task");
  void* const at = memory.allocate(sizeof(Node), alignof(Node));
  Node* made = nullptr;
  try {
    made = ::new (at) Node(std::forward<Args>(args)...);
    make_room(edges, expected_edges);
    made->index = free_index();
  } catch (...) {
    made != nullptr ? destroy(made) : memory.give_back(at, sizeof(Node), alignof(Node));
    throw;
  }
  indices_reused = indices_reused || births != made->index;
  if constexpr (Node::kind == task_kind::condition || Node::kind == task_kind::multi_condition) has_conditions = true;
  made->created = births++;
  if (made->index == nodes.size()) {
    nodes.push_back(made);
    if (counts != nullptr) counts->in.push_back(0), counts->out.push_back(0);
  } else {
    free_indices.pop_back();
    nodes[made->index] = made;
    --erased;
  }
  return *made;
}

template <class Node, class... Args>
void graph_data::replace_node(std::uint32_t index, Args&&... args) {
  void* const at = memory.allocate(sizeof(Node), alignof(Node));
  Node* made = nullptr;
  try {
    made = ::new (at) Node(std::forward<Args>(args)...);
  } catch (...) {
    memory.give_back(at, sizeof(Node), alignof(Node));
    throw;
  }
  node* const old = nodes[index];
  made->index = index;
  made->limits = old->limits;
  made->created = old->created;
  nodes[index] = made;
  destroy(old);
}

// ---- running ----

/// A task as observers see it; the name is there as long as the run.
task_view view_of(record const& r) noexcept;
/// Tasks with limits tell by themselves: they may have to wait before they begin.
bool text_of_node(runnable const& self, task_view& view) noexcept;
/// The end of the outermost run that it is part of: callers wait for that one.
completion const* end_of_node(runnable const& self) noexcept;
/// The same of its run.
interrupt_state const* interrupt_of_node(runnable const& self) noexcept;

/// After the work of a task: makes its successors ready. Returns the first of them to run next; pushes the rest.
runnable* finish(record& r, fiber& self);
/// The work of a task that stands for a composed graph is over: by the end of the inner run, or without one.
runnable* end_of_module(record& r, fiber& self);
/// For a graph whose tasks have urgencies: a condition, and the task that one has chosen.
runnable* run_condition_in_order(runnable& task, fiber& self);
runnable* choose_in_order(runnable* chosen, graph_data& g, fiber& self);

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/graph/graph_data.ipp"
#include "heist/graph/recall.ipp"
#endif
