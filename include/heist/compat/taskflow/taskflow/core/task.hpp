// Handles of tasks, and the callables that make them.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>   // exception_ptr
#include <functional>  // hash
#include <ostream>
#include <string>
#include <type_traits>
#include <utility>  // forward, move

#include "heist/compat/taskflow/taskflow/core/callable.hpp"
#include "heist/compat/taskflow/taskflow/core/graph.hpp"

namespace tf {

class Semaphore;

/// Refers to a task of a graph; owns nothing.
class Task {
 public:
  Task() = default;
  explicit Task(detail::node* n) noexcept : node_{n} {}
  Task& operator=(std::nullptr_t) noexcept {
    node_ = nullptr;
    return *this;
  }
  bool operator==(Task const&) const = default;

  std::string const& name() const { return node_->name(); }
  Task& name(std::string const& text) {
    node_->with().name = text;
    return *this;
  }
  void* data() const { return node_->more ? node_->more->data : nullptr; }
  Task& data(void* what) {
    node_->with().data = what;
    return *this;
  }
  TaskPriority priority() const { return node_->more ? node_->more->priority : TaskPriority::HIGH; }
  /// Has an effect in programs that are compiled with TF_ENABLE_TASK_PRIORITY.
  Task& priority(TaskPriority how) {
    node_->with().priority = how;
    return *this;
  }

  std::size_t num_successors() const { return node_->successors.size(); }
  std::size_t num_predecessors() const { return node_->predecessors.size(); }
  std::size_t num_weak_dependencies() const { return node_->weak_count(); }
  std::size_t num_strong_dependencies() const { return num_predecessors() - num_weak_dependencies(); }

  template <class C>
  Task& work(C&& callable) {
    node_->type = detail::give_work(*node_, std::forward<C>(callable));
    return *this;
  }
  template <GraphLike T>
  Task& composed_of(T& object) {
    detail::give_module(*node_, retrieve_graph(object));
    return *this;
  }
  Task& adopt(Graph&& graph) {
    detail::give_module(*node_, std::move(graph));
    return *this;
  }
  void reset_work() {
    node_->does.reset();
    node_->type = TaskType::PLACEHOLDER;
  }

  template <class... Tasks>
  Task& precede(Tasks&&... others) {
    (node_->precede(*others.node_), ...);
    return *this;
  }
  template <class... Tasks>
  Task& succeed(Tasks&&... others) {
    (others.node_->precede(*node_), ...);
    return *this;
  }
  template <class... Tasks>
  Task& remove_successors(Tasks&&... others) {
    (node_->disconnect(*others.node_), ...);
    return *this;
  }
  template <class... Tasks>
  Task& remove_predecessors(Tasks&&... others) {
    (others.node_->disconnect(*node_), ...);
    return *this;
  }

  Task& acquire(Semaphore& from) {
    node_->with().acquires.push_back(&from);
    return *this;
  }
  template <class I>
  Task& acquire(I first, I last) {
    for (; first != last; ++first) acquire(*first);
    return *this;
  }
  Task& release(Semaphore& to) {
    node_->with().releases.push_back(&to);
    return *this;
  }
  template <class I>
  Task& release(I first, I last) {
    for (; first != last; ++first) release(*first);
    return *this;
  }

  void reset() noexcept { node_ = nullptr; }
  bool empty() const noexcept { return node_ == nullptr; }
  bool has_work() const { return node_ != nullptr && static_cast<bool>(node_->does); }
  TaskType type() const { return node_->type; }
  std::exception_ptr exception_ptr() const { return node_ == nullptr ? nullptr : node_->exception; }
  bool has_exception_ptr() const { return exception_ptr() != nullptr; }

  template <class V>
  void for_each_successor(V&& visit) const {
    for (detail::node* n : node_->successors) visit(Task{n});
  }
  template <class V>
  void for_each_predecessor(V&& visit) const {
    for (detail::node* n : node_->predecessors) visit(Task{n});
  }
  /// Those of the last run, if the subflow was retained.
  template <class V>
  void for_each_subflow_task(V&& visit) const {
    if (node_->type != TaskType::SUBFLOW) return;
    for (detail::node* n : *node_->does.graph()) visit(Task{n});
  }

  std::size_t hash_value() const noexcept { return std::hash<detail::node*>{}(node_); }
  void dump(std::ostream& out) const {
    out << "task ";
    name().empty() ? out << node_ : out << name();
    out << " [type=" << to_string(type()) << ']';
  }

  // For the code of the layer.
  detail::node* node() const noexcept { return node_; }

 private:
  detail::node* node_ = nullptr;
};

inline std::ostream& operator<<(std::ostream& out, Task const& task) {
  task.dump(out);
  return out;
}

/// A task as an observer sees it. Valid during the call.
class TaskView {
 public:
  explicit TaskView(detail::node const& n) noexcept : node_{&n} {}

  std::string const& name() const { return node_->name(); }
  std::size_t num_successors() const { return node_->successors.size(); }
  std::size_t num_predecessors() const { return node_->predecessors.size(); }
  std::size_t num_weak_dependencies() const { return node_->weak_count(); }
  std::size_t num_strong_dependencies() const { return num_predecessors() - num_weak_dependencies(); }
  TaskType type() const { return node_->type; }
  std::size_t hash_value() const noexcept { return std::hash<detail::node const*>{}(node_); }
  template <class V>
  void for_each_successor(V&& visit) const {
    for (detail::node const* n : node_->successors) visit(TaskView{*n});
  }
  template <class V>
  void for_each_predecessor(V&& visit) const {
    for (detail::node const* n : node_->predecessors) visit(TaskView{*n});
  }

 private:
  detail::node const* node_;
};

}  // namespace tf

template <>
struct std::hash<tf::Task> {
  std::size_t operator()(tf::Task const& t) const noexcept { return t.hash_value(); }
};
template <>
struct std::hash<tf::TaskView> {
  std::size_t operator()(tf::TaskView const& t) const noexcept { return t.hash_value(); }
};
