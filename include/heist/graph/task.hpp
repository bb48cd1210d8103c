// Handles to the tasks of a graph.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <string>
#include <string_view>  // and hash
#include <type_traits>
#include <utility>  // forward

#include "heist/core/base/errors.hpp"
#include "heist/core/executor/task_callable.hpp"
#include "heist/fwd.hpp"
#include "heist/graph/access.hpp"
#include "heist/graph/edit.hpp"
#include "heist/graph/graph_data.hpp"
#include "heist/graph/typed_node.hpp"

namespace heist {

class limiter;
class task_graph;

namespace detail {

// A base class that the reference shows.
/// The functions of all handles. Self is the handle's type, so that calls chain.
template <class Self>
class task_operations {
 public:
  /// Refers to nothing.
  task_operations() noexcept = default;

  // --- Which task ---

  /// False if default made or the task was erased.
  bool valid() const noexcept {
    if (graph_ == nullptr || index_ >= graph_->nodes.size()) return false;
    node const* const n = graph_->nodes[index_];
    // Nodes lie far apart: looked at only where there may be another of this index.
    return n != nullptr && (!graph_->indices_reused || n->created == created_);
  }

  // --- Name and priority ---

  /// Names the task, for pictures, traces and messages. Throws graph_error while the graph runs.
  Self& name(std::string_view text) {
    checked().reject_in_pass("name a task");
    graph_->names.set(index_, std::string{text});
    return self();
  }
  /// The name, or "#" and the task's number.
  std::string name() const { return checked().task_name(index_); }

  /// The priority of the task when it is ready (graph/README.md, "Order"). Its predecessors do not inherit it. Throws
  /// graph_error while the graph runs. Cost: as an edge. In a graph whose priorities differ, each task of a run takes
  /// a lock, and time logarithmic in the number of ready tasks.
  Self& priority(heist::priority how) {
    checked().set_priority(index_, how);
    return self();
  }
  // Refused: a number.
  template <class Number>
  requires std::is_integral_v<Number> Self& priority(Number) {
    static_assert(!std::is_integral_v<Number>,
                  "heist: a task's priority is a heist::priority and no number; fix it by heist::priority(5), or "
                  "heist::priority::high.");
    return self();
  }

  heist::priority priority() const { return checked().priority_of(index_); }

  // --- Edges ---

  /// This task runs before each of `others`. A condition's successors are numbered in the order of these calls.
  template <class... Tasks>
  Self& precede(Tasks const&... others) {
    (connect(*this, others), ...);
    return self();
  }
  /// This task runs after each of `others`.
  template <class... Tasks>
  Self& succeed(Tasks const&... others) {
    (connect(others, *this), ...);
    return self();
  }

  // --- Limiters ---

  /// The task holds so many permits of `from` while it runs. Throws graph_error for more than `from.max()`.
  Self& limit(limiter& from, std::size_t permits = 1) {
    add_limit(checked(), index_, from, permits);
    return self();
  }
  /// The task acquires so many permits of `from` before it runs. Some task of the graph releases them. Tasks that are
  /// skipped after an exception or a stop acquire and release, too. A task that no condition chooses does neither. A
  /// run that failed or was stopped has released all its permits when it ends.
  Self& acquire(limiter& from, std::size_t permits = 1) {
    add_acquire(checked(), index_, from, permits);
    return self();
  }
  /// The task releases so many permits to `from` after it has run.
  Self& release(limiter& from, std::size_t permits = 1) {
    add_release(checked(), index_, from, permits);
    return self();
  }

  // --- Locality ---

  /// The number of bytes that the task touches. Under policy::cab and policy::cats the squads get equal shares of the
  /// bytes in a graph's first run. Without it, the sizes of the values along edges count once they exist
  /// (value_bytes). Throws graph_error while the graph runs, as the next two do.
  Self& footprint(std::uint64_t bytes) {
    hint_of(checked(), index_).bytes = bytes;
    return self();
  }
  /// The worker or squad of the task. Under policy::cab and policy::cats that squad, or the worker's squad, gets it
  /// first. Under policy::replay, after task_graph::follow_placement(), only that worker, or a worker of that squad,
  /// runs it. Other policies ignore it. run() throws graph_error for a number that the executor does not have.
  Self& on_worker(std::size_t number) {
    hint_worker(checked(), index_, number);
    return self();
  }
  Self& on_squad(std::size_t number) {
    hint_squad(checked(), index_, number);
    return self();
  }

  // --- Look at edges ---

  /// Edges from this task, and to it. Cost: constant; the first question to a graph counts all of its edges.
  std::size_t successor_count() const { return checked().counted_edges().out[index_]; }
  std::size_t predecessor_count() const { return checked().counted_edges().in[index_]; }
  /// Calls f(task<>) for each. Cost: linear in the edges of the graph.
  template <class F>
  void for_each_successor(F&& f) const;
  template <class F>
  void for_each_predecessor(F&& f) const;

  /// The same task of the same graph?
  template <class Other>
  friend bool operator==(task_operations const& a, task_operations<Other> const& b) noexcept {
    return a.graph_ == task_access::graph_of(b) && a.index_ == task_access::index_of(b) &&
           a.created_ == task_access::created_of(b);
  }

 protected:
  task_operations(graph_data& graph, std::uint32_t index) noexcept
      : graph_{&graph}, index_{index}, created_{graph.nodes[index]->created} {}

  graph_data& checked() const {
    if (!valid()) {
      throw graph_error{
          "this handle refers to no task: it was default made, or its task was erased; fix it by using the "
          "handle that emplace() returned."};
    }
    return *graph_;
  }
  Self& self() noexcept { return static_cast<Self&>(*this); }

 private:
  friend struct task_access;

  template <class A, class B>
  static void connect(A const& from, B const& to) {
    graph_data* const graph = task_access::graph_of(from);
    if (graph == nullptr || graph != task_access::graph_of(to) || !from.valid() || !to.valid()) {
      throw graph_error{
          "an edge between tasks that are not both in the same graph; fix it by composing the one graph into "
          "the other, and by not using handles of erased tasks."};
    }
    graph->add_edge(task_access::index_of(from), task_access::index_of(to), false);
  }

  graph_data* graph_ = nullptr;
  std::uint32_t index_ = 0;
  std::uint32_t created_ = 0;
};

template <class T>
std::true_type handle_of_task(task<T> const&);
template <class T>
concept task_handle = requires(T const& t) {
  handle_of_task(t);
};

}  // namespace detail

/// A handle of a task with a value of type T. It refers to a node of a graph, and owns nothing; copy it freely.
///
/// Threads  as the graph: one thread at a time.
template <class T>
class task : public detail::task_operations<task<T>> {
 public:
  task() noexcept = default;

  /// The result of the task in the last run. Throws graph_error if it has not run, or was skipped. Do not call it
  /// while the graph runs.
  std::add_lvalue_reference_t<std::add_const_t<T>> result() const {
    auto const& slot = value();
    if (!slot.full()) detail::reject_result(this->name());
    return slot.get();
  }

  /// Converts to a handle without the value.
  operator task<void>() const noexcept;

 private:
  friend class task_graph;
  friend struct detail::task_access;
  using detail::task_operations<task<T>>::task_operations;

  detail::result_slot<T> const& value() const {
    return static_cast<detail::value_node<T> const&>(*this->checked().nodes[detail::task_access::index_of(*this)])
        .value;
  }
};

/// A handle of a task without a value: also of placeholders, conditions and composed graphs.
template <>
class task<void> : public detail::task_operations<task<void>> {
 public:
  task() noexcept = default;

  /// Replaces the task's work: f() or f(context), without a value. Throws graph_error while the graph runs.
  template <class F>
  task& work(F&& f) {
    if constexpr (detail::accepted<detail::as_child<context, F>>()) {
      using node = detail::task_node<std::decay_t<F>, void>;
      detail::graph_data& g = checked();
      g.about_to_change("give a task other work");
      std::uint32_t const index = detail::task_access::index_of(*this);
      detail::node_operations const& type = g.nodes[index]->type();
      if (type.kind != task_kind::task || type.forget_value != nullptr) detail::reject_other_work(name());
      g.replace_node<node>(index, std::forward<F>(f));
    }
    return *this;
  }

 private:
  friend class task_graph;
  template <class>
  friend class task;
  template <class>
  friend class detail::task_operations;
  using task_operations::task_operations;
};

template <class T>
task<T>::operator task<void>() const noexcept {
  using access = detail::task_access;
  return this->valid() ? task<void>{*access::graph_of(*this), access::index_of(*this)} : task<void>{};
}

template <class Self>
template <class F>
void detail::task_operations<Self>::for_each_successor(F&& f) const {
  for (edge const& e : checked().edges) {
    if (e.from() == index_) f(task<void>{*graph_, e.to});
  }
}
template <class Self>
template <class F>
void detail::task_operations<Self>::for_each_predecessor(F&& f) const {
  for (edge const& e : checked().edges) {
    if (e.to == index_) f(task<void>{*graph_, e.from()});
  }
}

}  // namespace heist

/// Equal handles have equal hashes. The hash stays the same as long as the handle.
template <class T>
struct std::hash<heist::task<T>> {
  std::size_t operator()(heist::task<T> const& t) const noexcept {
    using access = heist::detail::task_access;
    auto const where = reinterpret_cast<std::uintptr_t>(access::graph_of(t));
    std::uint64_t const which = std::uint64_t{access::created_of(t)} << 32 | access::index_of(t);
    return std::hash<std::uint64_t>{}((which ^ where) * 0x9e3779b97f4a7c15u >> 7);
  }
};
