// Runtimes: what a running task may do with its executor. And how tasks with children are called.
#pragma once

#include "heist/compat/taskflow/taskflow/core/scheduling.hpp"

namespace tf {

/// Of a task that takes it; valid while the task runs. The tasks that it starts end before the task's successors begin.
class Runtime : public detail::async_functions<Runtime> {
 public:
  explicit Runtime(detail::invocation& i) noexcept : call_{i} {}

  Executor& executor() noexcept { return call_.on; }
  Worker& worker() noexcept { return *call_.on.this_worker(); }
  /// Runs a task of the same graph now, whatever it comes after.
  void schedule(Task task) { schedule(call_.on, task); }
  /// Waits for what this runtime has started: the caller parks. Throws what one of them threw.
  void corun() {
    Executor::wait_for_children(call_.self);
    call_.self.rethrow();
  }
  void corun_all() { corun(); }
  /// Has the run, or what this task is a child of, been cancelled or failed?
  bool is_cancelled() const noexcept { return call_.self.parent_stopped(); }

  /// The context of heist, for its algorithms.
  heist::context const& context() const noexcept { return call_.context; }

  // For the code of the layer.
  detail::async_scheduler scheduler() const noexcept { return {&call_.on, &call_.self, call_.self.run}; }
  detail::invocation& call() noexcept { return call_; }
  static void schedule(Executor& on, Task task) {
    detail::node& n = *task.node();
    n.missing.store(0, std::memory_order_relaxed);          // relaxed, as the next: the caller is a child of the same
    n.above->open.fetch_add(1, std::memory_order_relaxed);  // relaxed: as above
    on.schedule(n);
  }

 private:
  detail::invocation& call_;
};

/// The same for tasks that start no asyncs.
class NonpreemptiveRuntime {
 public:
  explicit NonpreemptiveRuntime(Executor& on) noexcept : on_{on} {}
  void schedule(Task task) { Runtime::schedule(on_, task); }

 private:
  Executor& on_;
};

namespace detail {

template <class F>
void runtime_body<F>::call(invocation& i) {
  if constexpr (std::invocable<F&, Runtime&>) {
    i.opens();
    i.self.flags.fetch_or(parent::runtime, std::memory_order_relaxed);  // relaxed: it has no children yet
    Runtime runtime{i};
    f(runtime);
  } else {
    NonpreemptiveRuntime runtime{i.on};
    f(runtime);
  }
}

template <class F>
void subflow_body<F>::call(invocation& i) {
  i.opens();
  i.self.joined = i.self.retained = false;
  inner.clear();
  Subflow flow{i, inner};
  f(flow);
  if (flow.joinable()) i.on.launch(inner, i.self, i.self.run);
}

inline void module_body::call(invocation& i) {
  i.opens();
  i.on.launch(*inner, i.self, i.self.run);
}
inline void adopted_body::call(invocation& i) {
  i.opens();
  i.on.launch(inner, i.self, i.self.run);
}

inline node* make_async_node(async_scheduler const& at) {
  auto* const n = new node{TaskType::ASYNC};
  n->above = at.above;
  n->run = at.run;
  if (at.above == nullptr) {
    at.executor->pending().add();
  } else {
    at.above->open.fetch_add(1, std::memory_order_relaxed);  // relaxed: the caller is open, too
  }
  return n;
}
template <class P>
node* make_async(async_scheduler const& at, P&& params) {
  node* const n = make_async_node(at);
  name_async(*n, std::forward<P>(params));
  return n;
}
inline void schedule_async(Executor& on, node& n) {
  on.schedule(n);
}

}  // namespace detail

inline void Subflow::join() {
  if (!joinable()) detail::reject("heist: a tf::Subflow is joined twice; fix it by one join().");
  call_.on.launch(_graph, call_.self, call_.self.run);
  Executor::wait_for_children(call_.self);
  call_.self.joined = true;
  call_.self.rethrow();
}

}  // namespace tf
