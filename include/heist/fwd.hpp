// The whole house on one screen: what users name, floor by floor, with the default template arguments.
//
//   7  heist/*.hpp           doors: executor, fork_join, graph, policy, topology, observe, simulate; heist.hpp = all
//   5  graph/                task graphs: nodes, edges that carry values, conditions, composition, limiters, runs
//   4  fork/                 fork_join, scope: parent-first on the task stack, child-first on continuations
//   3  sched/                worker loop, finding work, idling, context, executor
//   3  sim/                  beside it: the same policies on simulated workers
//   2  policy/ fiber/ memory/    pure decisions, stack switching, stacks and arenas
//   1  topology/ sync/ observe/  machine and squads, deque, task stack, EventCount, events and traces
//   0  base/                 words, configuration, the seam to the outside world
//
// A header includes only floors below its own. Next: sched/worker_loop.hpp, sched/README.md.
#pragma once

namespace heist {

// base
struct error;
struct graph_error;
struct topology_error;
struct executor_error;
struct stack_error;
struct region_error;
struct os_env;

// topology
namespace topology {
struct machine;
struct squads;
}  // namespace topology
enum class squad_by;

// sync
template <class T, class Env>
class work_deque;
template <class Slot, class Env>
class task_stack;
template <class Env>
class event_count;
template <class Node, class Env>
class master_queue;
template <class Node, class Env>
class inter_pool;
template <class Item, class Env>
class turn_lists;

// observe
struct null_observer;
struct task_view;
class recorder;
struct counter_values;
class steal_tree;

template <class Clock>
class basic_time_breakdown;

// policy
namespace order {
struct parent_first;
struct child_first;
struct recorded;
struct by_tier;
struct of_executor;
}  // namespace order
namespace join {
struct park;
struct leapfrog;
struct wait;
}  // namespace join
namespace tier {
struct flat;
struct cab;
struct cats;
}  // namespace tier
class region_profile;
enum class replay_mode;
struct run_times;
struct adaptation_options;
class adaptation;
namespace policy {
struct random;
struct sampling;
struct victim_set;
struct hierarchical;
struct replay;
struct cab;
struct cats;
template <class Victim, class Idle, class Order, class Join, class Tier>
struct bundle;
}  // namespace policy

// sched
struct options;
struct region_options;
class region;
template <class Task, class Frame, class Env>
class squad_set;
template <class Order>
class basic_context;
class graph_run;
template <class T>
class future;
template <class Policy, class Observer>
class executor;

struct redistribution;
class no_migrate;
class mutex;

// sim
struct sim_error;
namespace sim {
class program;
struct recorded_program;
struct options;
struct costs;
struct report;
}  // namespace sim

// fork
template <class Context>
class scope;
template <class Context, class Clock>
class work_span_context;
struct work_span_profile;
template <class Context, class Clock>
class recording_context;

// graph
template <class T>
class task;
class task_graph;
class limiter;

}  // namespace heist
