// Runs of a part of a graph: given tasks, and the tasks that come after them.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <utility>  // forward, move

#include "heist/core/base/vector.hpp"
#include "heist/core/executor/start_access.hpp"
#include "heist/graph/access.hpp"
#include "heist/graph/task_graph.hpp"

namespace heist {
namespace detail {

struct first_task {
  std::uint32_t index, created;
};

template <class Range>
concept task_range = requires(Range const& tasks) {
  requires task_handle<std::remove_cvref_t<decltype(*tasks.begin())>>;
  tasks.end();
};

}  // namespace detail

/// The part of a graph that consists of given tasks and of all tasks that come after them. executor::run(), run_n() and
/// run_until() take it as they take a graph:
///
///     heist::subgraph changed{parse, link};   // two tasks of a graph
///     ex.run(changed).get();                  // runs them, and the tasks after them
///
/// A task of the part waits for its predecessors in the part only. So a given task waits for another given task if
/// edges without conditions lead from that one to it; otherwise it starts at once. A value that a task takes from
/// outside the part is the value of an earlier run. If there is none, the run fails with graph_error. An event outside
/// the part may get its value, and nothing comes of it. A limiter should be acquired and released in the part.
///
/// Conditions choose as in a run of the graph. Where a loop leads back to a task, the first round does not wait for the
/// tasks behind it. In later rounds the task waits for all its predecessors, as in a run of the graph.
///
/// The run stands in the line of the graph's runs. Policies with memory (cab, cats, replay, automatic) run the part
/// without their memory of the graph, and learn nothing from it. They refuse it where they refuse a run of the graph.
///
/// Lifetime  as a task handle: valid while the graph and the given tasks exist.
/// Threads   as task_graph: run() of one subgraph by any number of threads.
/// Cost      the first pass of a run, and after a change of the graph: linear in the graph's tasks and the part's edges.
///           Behind conditions, one more such walk for each task with several predecessors. Further passes: linear in
///           the part's tasks.
class subgraph {
 public:
  /// Throws graph_error if a handle refers to no task, and if tasks are of several graphs.
  template <class First, class... Tasks>
  requires detail::task_handle<First> &&
      (detail::task_handle<Tasks>&&...) explicit subgraph(First const& first, Tasks const&... tasks) {
    add(first);
    (add(tasks), ...);
  }
  /// Of a range of handles. An empty part runs nothing, but needs a graph: throws graph_error for an empty range.
  template <class Range>
  requires detail::task_range<Range>
  explicit subgraph(Range const& tasks) {
    for (auto const& t : tasks) add(t);
    if (graph_ == nullptr) reject_empty();
  }

 private:
  friend struct detail::start_access;
  template <class... Options>
  graph_run start_run(detail::core& scheduler, std::size_t passes, Options&&... options) const {
    if constexpr (detail::options_of_run<Options...>()) {
      return graph_->start(scheduler, passes, {}, part(), std::forward<Options>(options)...);
    } else {
      return {};
    }
  }
  template <class Predicate, class... Options>
  graph_run start_run_until(detail::core& scheduler, Predicate&& done, Options&&... options) const {
    if constexpr (detail::predicate_of_run<Predicate>() && detail::options_of_run<Options...>()) {
      auto again = [stop = std::forward<Predicate>(done)]() mutable { return !stop(); };
      return graph_->start(scheduler, 1, std::move(again), part(), std::forward<Options>(options)...);
    } else {
      return {};
    }
  }

  template <class Task>
  void add(Task const& t) {
    using access = detail::task_access;
    add(access::graph_of(t), {access::index_of(t), access::created_of(t)}, t.valid());
  }
  HEIST_BODY void add(detail::graph_data* of, detail::first_task t, bool valid);
  [[noreturn]] HEIST_BODY static void reject_empty();
  HEIST_BODY detail::part_option part() const;

  detail::graph_data* graph_ = nullptr;
  detail::vector<detail::first_task> first_;
};

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/graph/subgraph.ipp"
#endif
