// heist as a C++20 module: import heist; instead of #include <heist/heist.hpp>. Compiled as the user's own files are, by
// compilers that have modules (tried with clang 19); macros are not exported, there are none to use.
module;
#include <heist/heist.hpp>
#include <heist/locality.hpp>
#include <heist/measure.hpp>
#include <heist/observe.hpp>
#include <heist/configuration.hpp>
#include <heist/report.hpp>
#include <heist/simulate.hpp>
#include <heist/run_loop.hpp>
#include <heist/thread_limit.hpp>
#include <heist/subgraph.hpp>
#include <heist/sync.hpp>
#include <heist/topology.hpp>
export module heist;

export namespace heist {
// executors, contexts, futures
using heist::basic_context;
using heist::configuration_text;
using heist::context;
using heist::executor;
using heist::thread_limit;
using heist::future;
using heist::options;
using heist::pinning;
// errors
using heist::error;
using heist::executor_error;
using heist::graph_error;
using heist::region_error;
using heist::stack_error;
using heist::steal_tree_error;
using heist::stopped_error;
using heist::topology_error;
// graphs
using heist::each;
using heist::graph_memory;
using heist::graph_run;
using heist::limiter;
using heist::record_graph;
using heist::take;
using heist::task;
using heist::task_graph;
using heist::value_bytes;
using heist::values;
using heist::write_dot;
// algorithms
using heist::adjacent_find;
using heist::algorithm_error;
using heist::all_of;
using heist::any_of;
using heist::any_order;
using heist::copy;
using heist::copy_if;
using heist::count;
using heist::count_if;
using heist::equal;
using heist::exclusive_scan;
using heist::fill;
using heist::find;
using heist::find_if;
using heist::find_if_not;
using heist::for_each;
using heist::for_each_block;
using heist::for_each_block_2d;
using heist::for_each_index;
using heist::for_each_index_2d;
using heist::for_each_n;
using heist::generate;
using heist::group;
using heist::group_by;
using heist::histogram;
using heist::inclusive_scan;
using heist::index_range;
using heist::is_sorted;
using heist::loop_options;
using heist::max_element;
using heist::merge;
using heist::min_element;
using heist::minmax_element;
using heist::mismatch;
using heist::none_of;
using heist::nth_element;
using heist::partial_sort;
using heist::partition;
using heist::reduce;
using heist::reduce_by_index;
using heist::remove_if;
using heist::replace_if;
using heist::reverse;
using heist::sort;
using heist::stable_sort;
using heist::transform;
using heist::transform_exclusive_scan;
using heist::transform_inclusive_scan;
using heist::transform_reduce;
using heist::unique;
// work that is found as it runs
using heist::after;
using heist::after_always;
using heist::executor_ref;
using heist::commute;
using heist::current_executor;
using heist::current_worker;
using heist::datum;
using heist::default_executor;
using heist::flow;
using heist::flow_options;
using heist::make_exceptional_future;
using heist::make_ready_future;
using heist::parallel_stage;
using heist::per_worker;
using heist::pipeline;
using heist::priority;
using heist::read;
using heist::scalable_pipeline;
using heist::serial_stage;
using heist::shared_future;
using heist::stage_mode;
using heist::token;
using heist::update;
using heist::when_all;
using heist::when_any;
using heist::with;
using heist::write;
// coroutines
using heist::coroutine;
using heist::resume_on;
using heist::sync_wait;
// fork and join
using heist::adaptation;
using heist::adaptation_options;
using heist::fork_join;
using heist::measure_work_span;
using heist::barrier;
using heist::binary_semaphore;
using heist::channel;
using heist::condition_variable_any;
using heist::counting_semaphore;
using heist::deadline;
using heist::latch;
using heist::run_loop;
using heist::subgraph;
using heist::manual_reset_event;
using heist::mutex;
using heist::recursive_mutex;
using heist::shared_mutex;
using heist::timed_mutex;
using heist::no_migrate;
using heist::record_program;
using heist::redistribute;
using heist::redistribution;
using heist::region;
using heist::region_options;
using heist::region_profile;
using heist::replay_mode;
using heist::run_times;
using heist::scope;
using heist::squad_by;
using heist::steal_tree;
using heist::work_span_profile;
// observers
using heist::counters;
using heist::event;
using heist::event_counts;
using heist::event_kind;
using heist::null_observer;
using heist::observer;
using heist::placement_trace;
using heist::recorder;
using heist::summarize;
using heist::task_edges;
using heist::task_kind;
using heist::task_view;
using heist::tee;
using heist::time_breakdown;
using heist::to_string;
using heist::trace_summary;
using heist::write_chrome_trace;
using heist::write_report;
// simulation
using heist::sim_error;
using heist::simulate;
}  // namespace heist

export namespace heist::policy {
using heist::policy::bundle;
using heist::policy::cab;
using heist::policy::automatic;
using heist::policy::cats;
using heist::policy::executor_policy;
using heist::policy::hierarchical;
using heist::policy::random;
using heist::policy::replay;
using heist::policy::sampling;
using heist::policy::victim_set;
using heist::policy::with_idle;
using heist::policy::with_join;
using heist::policy::with_order;
}  // namespace heist::policy

export namespace heist::order {
using heist::order::child_first;
using heist::order::parent_first;
using heist::order::recorded;
}  // namespace heist::order

export namespace heist::join {
using heist::join::leapfrog;
using heist::join::park;
using heist::join::spin;
}  // namespace heist::join

export namespace heist::idle {
using heist::idle::adaptive;
using heist::idle::spinning;
using heist::idle::bws;
using heist::idle::standard;
}  // namespace heist::idle

export namespace heist::topology {
using heist::topology::discover;
using heist::topology::machine;
using heist::topology::parse;
using heist::topology::squads;
}  // namespace heist::topology

export namespace heist::sim {
using heist::sim::balanced_tree;
using heist::sim::costs;
using heist::sim::fixed;
using heist::sim::options;
using heist::sim::program;
using heist::sim::program_builder;
using heist::sim::recorded_program;
using heist::sim::report;
}  // namespace heist::sim
