// Handles to the tasks of a graph.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>  // forward

#include "heist/base/errors.hpp"
#include "heist/graph/edit.hpp"
#include "heist/graph/graph_data.hpp"
#include "heist/graph/typed_node.hpp"

namespace heist {

class limiter;
class task_graph;
template <class T = void>
class task;

namespace detail {

/// What all handles can do; Self is the handle's own type, so that calls chain.
template <class Self>
class task_operations {
 public:
  /// Refers to nothing.
  task_operations() noexcept = default;

  /// False if default made or the task was erased.
  bool valid() const noexcept {
    return graph_ != nullptr && generation_ == graph_->generation && graph_->nodes[index_] != nullptr;
  }

  /// Names the task, for pictures, traces and messages.
  Self& name(std::string_view text) {
    checked().names[index_] = std::string{text};
    return self();
  }
  /// The name, or "#" and the task's number.
  std::string name() const { return checked().task_name(index_); }

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

  /// While the task runs it holds `count` of `from`: at most `from.most()` at a time. Throws graph_error if `count` is
  /// more than the limiter ever has.
  Self& limit(limiter& from, std::size_t count = 1) {
    acquire(from, count);
    return release(from, count);
  }
  /// Before it runs, the task takes `count` of `from`, for some task to release. Tasks that are skipped after an
  /// exception or a stop acquire and release, too; one that no condition chooses does neither.
  Self& acquire(limiter& from, std::size_t count = 1) {
    add_acquire(checked(), index_, from, count);
    return self();
  }
  /// After it has run, the task gives `count` back to `from`.
  Self& release(limiter& from, std::size_t count = 1) {
    add_release(checked(), index_, from, count);
    return self();
  }

  /// Cost: linear in the edges of the graph.
  std::size_t successor_count() const {
    std::size_t n = 0;
    for (edge const& e : checked().edges) n += e.from() == index_;
    return n;
  }
  std::size_t predecessor_count() const {
    std::size_t n = 0;
    for (edge const& e : checked().edges) n += e.to == index_;
    return n;
  }
  /// Calls f(task<>) for each. Cost: linear in the edges of the graph.
  template <class F>
  void for_each_successor(F&& f) const;
  template <class F>
  void for_each_predecessor(F&& f) const;

  /// The same task of the same graph?
  template <class Other>
  friend bool operator==(task_operations const& a, task_operations<Other> const& b) noexcept {
    return a.graph() == b.graph() && a.index() == b.index() && a.generation() == b.generation();
  }

  // For the code of heist.
  graph_data* graph() const noexcept { return graph_; }
  std::uint32_t index() const noexcept { return index_; }
  std::uint32_t generation() const noexcept { return generation_; }

 protected:
  task_operations(graph_data& graph, std::uint32_t index) noexcept
      : graph_{&graph}, index_{index}, generation_{graph.generation} {}

  graph_data& checked() const {
    if (!valid()) {
      throw graph_error{
          "this handle refers to no task: it was default made, or its task was erased; mend it by using the "
          "handle that emplace() returned."};
    }
    return *graph_;
  }
  Self& self() noexcept { return static_cast<Self&>(*this); }

 private:
  template <class A, class B>
  static void connect(A const& from, B const& to) {
    if (from.graph() == nullptr || from.graph() != to.graph() || !from.valid() || !to.valid()) {
      throw graph_error{
          "an edge between tasks that are not both in the same graph; mend it by composing the one graph into "
          "the other, and by not using handles of erased tasks."};
    }
    from.graph()->add_edge(from.index(), to.index(), false);
  }

  graph_data* graph_ = nullptr;
  std::uint32_t index_ = 0;
  std::uint32_t generation_ = 0;
};

}  // namespace detail

/// A task that leaves a value of type T: refers to a node of a graph, is copied freely, owns nothing.
///
/// Threads  as the graph: built by one thread at a time.
template <class T>
class task : public detail::task_operations<task<T>> {
 public:
  task() noexcept = default;

  /// What the task returned in the last run. Throws graph_error if it has not run, or was skipped. Not to be called
  /// while the graph runs.
  std::add_lvalue_reference_t<std::add_const_t<T>> result() const {
    auto const& slot = value();
    if (!slot.full()) {
      throw graph_error{
          fmt::format("{} has no result: it has not run, or was skipped; mend it by waiting for a run that "
                      "ends without an exception or a stop.",
                      this->name())};
    }
    return slot.get();
  }

  /// A task is a task without its value.
  operator task<void>() const noexcept;

  // For the code of heist.
  detail::result_slot<T> const& value() const {
    return static_cast<detail::value_node<T> const&>(*this->checked().nodes[this->index()]).value;
  }

 private:
  friend class task_graph;
  using detail::task_operations<task<T>>::task_operations;
};

/// A task without a value: also what placeholders, conditions and composed graphs are.
template <>
class task<void> : public detail::task_operations<task<void>> {
 public:
  task() noexcept = default;

  /// Gives the task other work: f() or f(context), without a value. Throws graph_error while the graph runs.
  template <class F>
  task& work(F&& f) {
    using node = detail::task_node<std::decay_t<F>, void>;
    detail::graph_data& g = checked();
    g.about_to_change("give a task other work");
    detail::node_operations const& type = g.nodes[index()]->type();
    if (type.kind != task_kind::task || type.forget_value != nullptr) {
      throw graph_error{
          fmt::format("{} is a condition, a composed graph, or a task whose value others may take: it keeps its "
                      "work. Mend it by erasing the task and adding another.",
                      name())};
    }
    detail::replace_node<node>(g, index(), std::forward<F>(f));
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
  return this->valid() ? task<void>{*this->graph(), this->index()} : task<void>{};
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
