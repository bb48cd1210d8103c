// The kinds of callables that tasks are made of, and how each of them is called.
#pragma once

#include <concepts>
#include <exception>  // exception_ptr
#include <type_traits>
#include <utility>  // forward, move

#include "heist/compat/taskflow/taskflow/core/graph.hpp"
#include "heist/executor.hpp"

namespace tf {

class Runtime;
class NonpreemptiveRuntime;
class Subflow;

template <class C>
concept StaticTaskLike = std::invocable<C> && std::same_as < std::invoke_result_t<C>,
void > ;
template <class C>
concept SubflowTaskLike = std::invocable<C, Subflow&> && std::same_as < std::invoke_result_t<C, Subflow&>,
void > ;
template <class C>
concept RuntimeTaskLike = (std::invocable<C, Runtime&> && std::same_as<std::invoke_result_t<C, Runtime&>, void>) ||
                          (std::invocable<C, NonpreemptiveRuntime&> &&
                           std::same_as<std::invoke_result_t<C, NonpreemptiveRuntime&>, void>);
template <class C>
concept ConditionTaskLike = std::invocable<C> && std::convertible_to < std::invoke_result_t<C>,
int > ;
template <class C>
concept MultiConditionTaskLike = std::invocable<C> && std::same_as<std::invoke_result_t<C>, SmallVector<int>>;
template <class C>
concept TaskLike =
    StaticTaskLike<C> || SubflowTaskLike<C> || RuntimeTaskLike<C> || ConditionTaskLike<C> || MultiConditionTaskLike<C>;

template <class C>
inline constexpr bool is_static_task_v = StaticTaskLike<C>;
template <class C>
inline constexpr bool is_subflow_task_v = SubflowTaskLike<C>;
template <class C>
inline constexpr bool is_runtime_task_v = RuntimeTaskLike<C>;
template <class C>
inline constexpr bool is_condition_task_v = ConditionTaskLike<C>;
template <class C>
inline constexpr bool is_multi_condition_task_v = MultiConditionTaskLike<C>;

namespace detail {

/// One call of a task's callable.
struct invocation {
  Executor& on;
  heist::context const& context;
  node& self;
  SmallVector<int>& chosen;  ///< by a condition
  bool has_children = false;

  /// The callable may get children; they end before the task.
  void opens() noexcept {
    self.open.store(1, std::memory_order_relaxed);  // relaxed: no other thread knows the task yet
    has_children = true;
  }
};

template <class F>
struct static_body {
  F f;
  void call(invocation&) { f(); }
};
template <class F>
struct condition_body {
  F f;
  void call(invocation& i) { i.chosen.push_back(static_cast<int>(f())); }
};
template <class F>
struct multi_condition_body {
  F f;
  void call(invocation& i) { i.chosen = f(); }
};
template <class F>
struct runtime_body {
  F f;
  void call(invocation& i);
};
template <class F>
struct subflow_body {
  F f;
  Graph inner = {};
  void call(invocation& i);
  Graph& graph() noexcept { return inner; }
};
struct module_body {
  Graph* inner;
  void call(invocation& i);
  Graph& graph() noexcept { return *inner; }
};
struct adopted_body {
  Graph inner;
  void call(invocation& i);
  Graph& graph() noexcept { return inner; }
};

template <class C>
TaskType give_work(node& n, C&& callable) {
  using function = std::decay_t<C>;
  if constexpr (StaticTaskLike<C>) {
    n.does.emplace<static_body<function>>(std::forward<C>(callable));
    return TaskType::STATIC;
  } else if constexpr (MultiConditionTaskLike<C>) {
    n.does.emplace<multi_condition_body<function>>(std::forward<C>(callable));
    return TaskType::CONDITION;
  } else if constexpr (ConditionTaskLike<C>) {
    n.does.emplace<condition_body<function>>(std::forward<C>(callable));
    return TaskType::CONDITION;
  } else if constexpr (RuntimeTaskLike<C>) {
    n.does.emplace<runtime_body<function>>(std::forward<C>(callable));
    return TaskType::RUNTIME;
  } else {
    static_assert(SubflowTaskLike<C>,
                  "heist: a tf::Task takes no argument, a tf::Subflow& or a tf::Runtime&, and returns nothing, an int "
                  "or a tf::SmallVector<int>; fix the callable.");
    n.does.emplace<subflow_body<function>>(std::forward<C>(callable));
    return TaskType::SUBFLOW;
  }
}
inline void give_module(node& n, Graph& inner) {
  n.does.emplace<module_body>(&inner);
  n.type = TaskType::MODULE;
}
inline void give_module(node& n, Graph&& inner) {
  n.does.emplace<adopted_body>(std::move(inner));
  n.type = TaskType::MODULE;
}

}  // namespace detail
}  // namespace tf
