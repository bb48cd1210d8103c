// Graphs, and what is common to their nodes.
#pragma once

#include <cstddef>   // ptrdiff_t
#include <iterator>  // forward_iterator_tag
#include <memory>    // make_unique, unique_ptr
#include <mutex>

#include "heist/compat/tbb/oneapi/tbb/detail/spinning_lock.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/graph_tasks.hpp"

namespace tbb::flow {

class graph;
class graph_node;

/// What graph::reset() does besides giving nodes and edges their first state.
enum reset_flags : unsigned { rf_reset_protocol = 0, rf_reset_bodies = 1, rf_clear_edges = 2 };
constexpr reset_flags operator|(reset_flags a, reset_flags b) noexcept {
  return static_cast<reset_flags>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

namespace detail {

struct graph_access;

constexpr bool has(reset_flags all, reset_flags one) noexcept {
  return (static_cast<unsigned>(all) & static_cast<unsigned>(one)) != 0;
}

/// Over the nodes of a graph, in the order in which they were made.
template <class Node>
class node_iterator {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = Node;
  using difference_type = std::ptrdiff_t;
  using pointer = Node*;
  using reference = Node&;

  node_iterator() noexcept = default;
  explicit node_iterator(Node* at) noexcept : at_{at} {}
  reference operator*() const noexcept { return *at_; }
  pointer operator->() const noexcept { return at_; }
  node_iterator& operator++() noexcept;
  node_iterator operator++(int) noexcept {
    node_iterator const before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(node_iterator const&, node_iterator const&) = default;

 private:
  Node* at_ = nullptr;
};

}  // namespace detail

/// Belongs to one graph for its life. Not to be made or destroyed while the graph is reset or iterated.
class graph_node {
 public:
  explicit graph_node(graph& g);
  graph_node(graph_node const&) = delete;
  graph_node& operator=(graph_node const&) = delete;
  virtual ~graph_node();

 protected:
  virtual void reset_node(reset_flags flags) = 0;
  graph& my_graph;

 private:
  friend class graph;
  friend struct detail::graph_access;
  template <class>
  friend class detail::node_iterator;
  graph_node *next_ = nullptr, *previous_ = nullptr;
};

/// Tasks of a graph run in the arena in which it was made or last reset.
///
/// A graph that is made in a task belongs to the task's group, and does not outlive it.
class graph {
 public:
  using iterator = detail::node_iterator<graph_node>;
  using const_iterator = detail::node_iterator<graph_node const>;

  graph() : own_{std::make_unique<task_group_context>()}, tasks_{*own_} { tbb::detail::group_access::bind(*own_); }
  explicit graph(task_group_context& group) : tasks_{group} { tbb::detail::group_access::bind(group); }
  graph(graph const&) = delete;
  graph& operator=(graph const&) = delete;
  ~graph() { tasks_.wait(); }

  /// Until release_wait(), the graph has not ended.
  void reserve_wait() { tasks_.add_work(); }
  void release_wait() { tasks_.end_work(); }
  /// Waits for the end of all work, and rethrows the first exception of a body.
  void wait_for_all();
  void cancel() { tasks_.group().cancel_group_execution(); }
  /// Both about the last wait_for_all().
  bool is_cancelled() const noexcept { return is_cancelled_; }
  bool exception_thrown() const noexcept { return exception_thrown_; }
  /// Drops messages, and makes edges push again. Not while the graph works.
  void reset(reset_flags flags = rf_reset_protocol);

  iterator begin() noexcept { return iterator{first_}; }
  iterator end() noexcept { return iterator{}; }
  const_iterator begin() const noexcept { return cbegin(); }
  const_iterator end() const noexcept { return cend(); }
  const_iterator cbegin() const noexcept { return const_iterator{first_}; }
  const_iterator cend() const noexcept { return const_iterator{}; }

 private:
  friend class graph_node;
  friend struct detail::graph_access;

  std::unique_ptr<task_group_context> const own_;
  detail::graph_tasks tasks_;
  bool is_cancelled_ = false, exception_thrown_ = false;
  tbb::detail::spinning_lock lock_;
  graph_node *first_ = nullptr, *last_ = nullptr;
};

namespace detail {

struct graph_access {
  static graph_tasks& tasks(graph& g) noexcept { return g.tasks_; }
  static graph& of(graph_node const& n) noexcept { return n.my_graph; }
};

inline graph_tasks& tasks_of(graph& g) noexcept {
  return graph_access::tasks(g);
}

template <class Node>
node_iterator<Node>& node_iterator<Node>::operator++() noexcept {
  if (at_ != nullptr) at_ = at_->next_;
  return *this;
}

}  // namespace detail

inline graph_node::graph_node(graph& g) : my_graph{g} {
  std::lock_guard const guard{g.lock_};
  previous_ = g.last_;
  (previous_ != nullptr ? previous_->next_ : g.first_) = this;
  g.last_ = this;
}
inline graph_node::~graph_node() {
  std::lock_guard const guard{my_graph.lock_};
  (previous_ != nullptr ? previous_->next_ : my_graph.first_) = next_;
  (next_ != nullptr ? next_->previous_ : my_graph.last_) = previous_;
}

inline void graph::wait_for_all() {
  is_cancelled_ = exception_thrown_ = false;
  tasks_.wait();
  task_group_context& group = tasks_.group();
  is_cancelled_ = group.is_group_execution_cancelled();
  if (tbb::detail::group_access::has_failed(group)) {
    is_cancelled_ = exception_thrown_ = true;
    try {
      tbb::detail::group_access::rethrow(group);
    } catch (...) {
      group.reset();
      throw;
    }
  }
  if ((group.traits() & task_group_context::concurrent_wait) == 0) group.reset();
}

inline void graph::reset(reset_flags flags) {
  tasks_.move_here();
  tasks_.set_active(false);
  tasks_.group().reset();
  is_cancelled_ = exception_thrown_ = false;
  for (graph_node* n = first_; n != nullptr; n = n->next_) n->reset_node(flags);
  tasks_.set_active(true);
}

}  // namespace tbb::flow
