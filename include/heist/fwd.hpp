// All that users name, with the default template arguments, which stand here and nowhere else; and the folders.
//
//   heist/*.hpp      what users include: heist.hpp = executor, fork_join, graph, async, flow, pipeline, coroutine, algorithm;
//                    locality.hpp = region, tiers, replay, automatic, policy, topology; sync.hpp; run_loop.hpp; subgraph.hpp;
//                    execution.hpp, parallel_backend.hpp;
//                    observe, report, measure, simulate; distributed.hpp, with MPI
//   distributed/     one graph over many processes
//   tools/           measure/     work and span, recordings
//                    simulate/    the same policies on simulated workers
//                    observe/     recorders, traces, reports
//   locality/        automatic/   the policy that tries the others
//                    squads/      CAB, CATS                    replay/    steal trees, following them
//                    history/     graphs that remember         region/    what is remembered of a repeated phase
//                    policy/      adaptation, profiles         counters/  of the processor
//   parallel/        execution/   std::execution: a scheduler with bulk, the backend of parallel_scheduler
//                    algorithm/   loops, reductions, scans, sorts
//                    primitives/  mutexes, permits, channels, ... that park a task
//                    coroutine/   coroutines as tasks          flow/, pipeline/, async/
//   graph/           task graphs: nodes, edges that carry values, conditions, composition, limiters, runs
//   core/            fork/        fork_join, scope: parent-first on the task stack, child-first on continuations
//                    executor/    the executor, tasks from anywhere and their futures, threads that help
//                    scheduler/   worker loop, finding work, sleeping, parking
//                    extension/   how locality takes part: executor_extension.hpp; fork/fork_extension.hpp
//                    fiber/, memory/, policy/, observe/, sync/, topology/, base/
//
// core/ includes no other group; graph/ includes core/; parallel/ and locality/ include both, and not each other. Within a
// group a header includes only folders that stand below its own (.ci/check_layers.py). Each has a `.hpp` with what is
// declared and, where bodies need not be in every file of a program, an `.ipp` with those (heist/src.hpp). A compiler
// analyses each body that a header includes, and instantiates what it uses, called or not: so what few programs need has
// a header of its own, which heist.hpp leaves out. Next: core/scheduler/worker_loop.hpp, core/scheduler/README.md.
#pragma once

#include <cstddef>  // size_t, ptrdiff_t

namespace heist {

// base
template <class T, class Reference = T const&>
class values;
struct error;
struct graph_error;
struct topology_error;
struct executor_error;
struct stack_error;
struct region_error;
struct algorithm_error;
struct os_env;

// topology
namespace topology {
struct machine;
struct squads;
}  // namespace topology
enum class squad_by;

// sync
namespace detail {
template <class T, class Env>
class work_deque;
template <class Slot, class Env, std::size_t Scratch>
class task_stack;
template <class Env>
class event_count;
}  // namespace detail

// observe
struct null_observer;
struct task_view;
class recorder;  // whole in <heist/observe.hpp>
struct counter_values;
class steal_tree;  // whole in <heist/locality.hpp>

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
struct spin;
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
struct automatic;
template <class Victim, class Idle, class Order, class Join, class Tier>
struct bundle;
}  // namespace policy

// region
struct region_options;  // whole in <heist/locality.hpp>
class region;           // as region_options

// squads
namespace detail {
template <class Node, class Env>
class inter_pool;
template <class Task, class Frame, class Env>
class squad_set;
}  // namespace detail

// replay
namespace detail {
template <class Item, class Env>
class turn_lists;
}  // namespace detail
struct redistribution;

// scheduler
struct options;
template <class Order>
class basic_context;
/// The context that can be named anywhere: asks at run time in which order its executor forks.
using context = basic_context<order::of_executor>;
class graph_run;
template <class T>
class future;
template <class T>
class shared_future;
enum class priority : signed char;
template <class Policy = policy::random, class Observer = null_observer>
class executor;
class thread_limit;

class no_migrate;

// simulate
struct sim_error;
namespace sim {
class program;
struct recorded_program;
struct options;
struct costs;
struct report;
}  // namespace sim

// fork
template <class Context = context>
class scope;

// measure
template <class Context, class Tracker>
class instrumented_context;
namespace detail {
template <class Clock>
class span_tracker;
template <class Clock>
class recording_tracker;
}  // namespace detail
/// What measure_work_span() gives to a program.
template <class Context, class Clock = os_env>
using work_span_context = instrumented_context<Context, detail::span_tracker<Clock>>;
/// What record_program() gives to a program.
template <class Context, class Clock = os_env>
using recording_context = instrumented_context<Context, detail::recording_tracker<Clock>>;
struct work_span_profile;

// async, flow, pipeline
struct with;
template <class... What>
struct after_list;
class flow;
template <class T>
class datum;
class token;
template <class... Stages>
class pipeline;
class scalable_pipeline;
class executor_ref;
class run_loop;
template <class T>
class per_worker;

// coroutine
template <class T = void>
class coroutine;

// graph
template <class T = void>
class task;
template <class T = void>
class event;
class task_graph;
class subgraph;
class limiter;
template <class T>
struct value_bytes;

// primitives: whole in <heist/sync.hpp>
class mutex;
class timed_mutex;
class recursive_mutex;
class shared_mutex;
class condition_variable_any;
template <std::ptrdiff_t LeastMaxValue = 0x7fffffff>
class counting_semaphore;
class latch;
template <class CompletionFunction>
class barrier;
class manual_reset_event;
template <class T>
class channel;

// history
class graph_memory;  // whole in <heist/locality.hpp>

// distributed
class world;
struct world_options;
class distributed_graph;
class distributed_run;
template <class T = void>
class placed;
template <class T>
struct wire;

// algorithm
struct loop_options;
struct index_range;
template <class Op>
struct any_order_op;

}  // namespace heist
