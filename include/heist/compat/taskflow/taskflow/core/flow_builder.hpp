// The builder of graphs: tasks, edges, and tasks that are algorithms.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <tuple>
#include <type_traits>
#include <utility>  // forward, move
#include <vector>

#include "heist/compat/taskflow/taskflow/algorithm/partitioner.hpp"
#include "heist/compat/taskflow/taskflow/core/task.hpp"
#include "heist/compat/taskflow/taskflow/utility/iterator.hpp"

namespace tf {

/// Adds tasks to a graph. The algorithms are in <taskflow/algorithm/...>.
class FlowBuilder {
 public:
  explicit FlowBuilder(Graph& graph) noexcept : _graph{graph} {}

  template <TaskLike C>
  Task emplace(C&& callable) {
    detail::node& n = _graph.add(TaskType::STATIC);
    n.type = detail::give_work(n, std::forward<C>(callable));
    return Task{&n};
  }
  template <class... C>
  requires(sizeof...(C) > 1) auto emplace(C&&... callables) {
    return std::tuple{emplace(std::forward<C>(callables))...};
  }
  template <GraphLike T>
  Task emplace(T& object) {
    return composed_of(object);
  }
  Task emplace(Graph&& graph) { return adopt(std::move(graph)); }

  Task placeholder() { return Task{&_graph.add(TaskType::PLACEHOLDER)}; }
  /// A task that runs all of the object's graph, which it does not own.
  template <GraphLike T>
  Task composed_of(T& object) {
    return placeholder().composed_of(object);
  }
  Task adopt(Graph&& graph) { return placeholder().adopt(std::move(graph)); }
  void erase(Task task) {
    if (!task.empty()) _graph.erase(*task.node());
  }
  void linearize(std::vector<Task>& tasks) { in_line(tasks); }
  void linearize(std::initializer_list<Task> tasks) { in_line(tasks); }

  template <InputIteratorLike B, InputIteratorLike E, class C, PartitionerLike P = DefaultPartitioner>
  Task for_each(B first, E last, C callable, P part = P());
  template <class B, class E, class S, class C, PartitionerLike P = DefaultPartitioner>
  Task for_each_index(B first, E last, S step, C callable, P part = P());
  template <IndexRangesLike R, class C, PartitionerLike P = DefaultPartitioner>
  Task for_each_by_index(R range, C callable, P part = P());

  template <InputIteratorLike B, InputIteratorLike E, class O, class C, PartitionerLike P = DefaultPartitioner>
  requires detail::UnaryTransform<C, B, O> Task transform(B first, E last, O out, C callable, P part = P());
  template <InputIteratorLike B1, InputIteratorLike E1, InputIteratorLike B2, class O, class C,
            PartitionerLike P = DefaultPartitioner>
  requires detail::BinaryTransform<C, B1, B2, O> Task transform(B1 first1, E1 last1, B2 first2, O out, C callable,
                                                                P part = P());
  template <InputIteratorLike B, InputIteratorLike E, class V, PartitionerLike P = DefaultPartitioner>
  Task fill(B first, E last, V value, P part = P());
  template <InputIteratorLike B, std::integral N, class V, PartitionerLike P = DefaultPartitioner>
  Task fill_n(B first, N count, V value, P part = P());
  template <InputIteratorLike B, InputIteratorLike E, class G, PartitionerLike P = DefaultPartitioner>
  Task generate(B first, E last, G gen, P part = P());
  template <InputIteratorLike B, std::integral N, class G, PartitionerLike P = DefaultPartitioner>
  Task generate_n(B first, N count, G gen, P part = P());

  template <InputIteratorLike B, InputIteratorLike E, class T, class O, PartitionerLike P = DefaultPartitioner>
  Task reduce(B first, E last, T& init, O op, P part = P());
  template <IndexRangesLike R, class T, class L, class G, PartitionerLike P = DefaultPartitioner>
  Task reduce_by_index(R range, T& init, L local, G global, P part = P());
  template <InputIteratorLike B, InputIteratorLike E, class T, class O, class U, PartitionerLike P = DefaultPartitioner>
  Task transform_reduce(B first, E last, T& init, O op, U unary, P part = P());
  template <InputIteratorLike B1, InputIteratorLike E1, InputIteratorLike B2, class T, class O, class C,
            PartitionerLike P = DefaultPartitioner>
  requires detail::BinaryOperation<C, B1, B2> Task transform_reduce(B1 first1, E1 last1, B2 first2, T& init, O op,
                                                                    C both, P part = P());

  template <InputIteratorLike B, InputIteratorLike E, class D, class O>
  Task inclusive_scan(B first, E last, D out, O op);
  template <InputIteratorLike B, InputIteratorLike E, class D, class O, class T>
  Task inclusive_scan(B first, E last, D out, O op, T init);
  template <InputIteratorLike B, InputIteratorLike E, class D, class T, class O>
  Task exclusive_scan(B first, E last, D out, T init, O op);
  template <InputIteratorLike B, InputIteratorLike E, class D, class O, class U>
  Task transform_inclusive_scan(B first, E last, D out, O op, U unary);
  template <InputIteratorLike B, InputIteratorLike E, class D, class O, class U, class T>
  Task transform_inclusive_scan(B first, E last, D out, O op, U unary, T init);
  template <InputIteratorLike B, InputIteratorLike E, class D, class T, class O, class U>
  Task transform_exclusive_scan(B first, E last, D out, T init, O op, U unary);

  template <InputIteratorLike B, InputIteratorLike E, class T, class U, PartitionerLike P = DefaultPartitioner>
  Task find_if(B first, E last, T& result, U predicate, P part = P());
  template <InputIteratorLike B, InputIteratorLike E, class T, class U, PartitionerLike P = DefaultPartitioner>
  Task find_if_not(B first, E last, T& result, U predicate, P part = P());
  template <InputIteratorLike B, InputIteratorLike E, class T, class C, PartitionerLike P = DefaultPartitioner>
  Task min_element(B first, E last, T& result, C less, P part = P());
  template <InputIteratorLike B, InputIteratorLike E, class T, class C, PartitionerLike P = DefaultPartitioner>
  Task max_element(B first, E last, T& result, C less, P part = P());

  template <InputIteratorLike B, InputIteratorLike E>
  Task sort(B first, E last);
  template <InputIteratorLike B, InputIteratorLike E, class C>
  Task sort(B first, E last, C less);
  template <InputIteratorLike B1, InputIteratorLike E1, InputIteratorLike B2, InputIteratorLike E2, class O>
  Task merge(B1 first1, E1 last1, B2 first2, E2 last2, O out);
  template <InputIteratorLike B1, InputIteratorLike E1, InputIteratorLike B2, InputIteratorLike E2, class O, class C>
  Task merge(B1 first1, E1 last1, B2 first2, E2 last2, O out, C less);

 protected:
  Graph& _graph;

 private:
  template <class L>
  static void in_line(L const& tasks) {
    Task before;
    for (Task t : tasks) {
      if (!before.empty()) before.precede(t);
      before = t;
    }
  }
};

/// A graph that a task builds while it runs. Its tasks run at join(), or when the callable has ended.
class Subflow : public FlowBuilder {
 public:
  Subflow(detail::invocation& i, Graph& graph) noexcept : FlowBuilder{graph}, call_{i} {}
  Subflow(Subflow const&) = delete;
  Subflow& operator=(Subflow const&) = delete;

  /// Runs the tasks and waits for them: the caller parks. Throws what one of them threw.
  void join();
  bool joinable() const noexcept { return !call_.self.joined; }
  Executor& executor() noexcept { return call_.on; }
  Graph& graph() noexcept { return _graph; }
  /// Whether the tasks stay until the next run, so that one can look at them.
  void retain(bool yes) noexcept { call_.self.retained = yes; }
  bool retain() const noexcept { return call_.self.retained; }

 private:
  detail::invocation& call_;
};

}  // namespace tf
