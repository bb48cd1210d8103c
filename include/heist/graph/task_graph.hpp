// The task graph that users build.
#pragma once

#include <concepts>
#include <cstddef>  // size_t
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>  // forward, move

#include "heist/base/config.hpp"
#include "heist/graph/graph_data.hpp"
#include "heist/graph/run.hpp"
#include "heist/graph/task.hpp"
#include "heist/graph/typed_node.hpp"

namespace heist {

/// Tasks and the edges between them. Built once, run as often as you like; running it again allocates nothing.
///
/// Threads  built and changed by one thread at a time, and not while it runs: that throws graph_error. Runs may be
///          started by any thread; runs of one graph happen one after the other, in the order in which they were
///          started. The next may begin, and even end, before who waits for the one before is told.
/// Promises a run starts no task before its predecessors have finished, and each task once (conditions apart). After an
///          exception or a stop the tasks that have not started are skipped, and the graph may be run again.
///          The destructor, and assignment, wait for runs in progress. In a callback of such a run they return at
///          once, and what the graph held goes when its last run has ended; a task of such a run must not call them.
class task_graph {
 public:
  task_graph() : data_{new detail::graph_data} {}
  explicit task_graph(std::string_view name) : task_graph{} { data_->title = std::string{name}; }
  task_graph(task_graph&&) noexcept = default;
  task_graph& operator=(task_graph&& other) noexcept;
  ~task_graph() { detail::graph_data::let_go(std::move(data_)); }

  /// Adds a task: f() or f(context).
  template <class F>
  auto emplace(F&& f) {
    return add<std::decay_t<F>>(std::forward<F>(f));
  }
  /// Adds a task that takes the values of other tasks: f(values...) or f(context, values...), with an edge from each.
  /// A task<void> adds its edge and no argument.
  template <class F, class T, class... More>
  auto emplace(F&& f, task<T> const& first, task<More> const&... more) {
    return add<std::decay_t<F>>(std::forward<F>(f), first, more...);
  }
  /// Adds several tasks and returns a tuple of their handles.
  // clang-format off
  template <class F, class G, class... More>
    requires(!std::derived_from<std::decay_t<G>, detail::task_operations<std::decay_t<G>>>)
  auto emplace(F&& f, G&& g, More&&... more) {
    // clang-format on
    std::uint32_t const first = data().births;
    try {
      return std::tuple{emplace(std::forward<F>(f)), emplace(std::forward<G>(g)), emplace(std::forward<More>(more))...};
    } catch (...) {
      data().erase_since(first);
      throw;
    }
  }

  /// Adds a task that does nothing yet; task::work() gives it something to do.
  task<> placeholder() { return add_node<detail::task_node<detail::no_work, void>>(detail::no_work{}); }

  /// Adds a condition: f() or f(context) returns the number of the successor to run next, counted from 0 in the order
  /// in which they were connected; any other number: none. Its edges choose, they do not count: loops may go through
  /// it.
  template <class F>
  task<> emplace_condition(F&& f) {
    using result = detail::task_result<context, std::decay_t<F>>;
    static_assert(std::is_integral_v<result>,
                  "heist: a condition returns the number of its successor; mend it by returning an int.");
    static_assert(
        !std::is_same_v<std::remove_cv_t<result>, bool>,
        "heist: a condition that returns bool would run successor 0 for false and 1 for true, which is seldom "
        "meant; mend it by returning an int: the number of the successor.");
    return add_node<detail::condition_node<std::decay_t<F>>>(std::forward<F>(f));
  }
  /// Adds a condition that chooses several: f() or f(context) returns a range of numbers.
  template <class F>
  task<> emplace_multi_condition(F&& f) {
    return add_node<detail::multi_condition_node<std::decay_t<F>>>(std::forward<F>(f));
  }

  /// Adds a task whose work is a run of `inner`, which stays as it is and may be in several graphs. Its exception
  /// becomes this graph's. Throws graph_error if graphs would contain each other in a circle.
  task<> compose(task_graph& inner);

  /// Number of tasks, of edges.
  std::size_t size() const noexcept { return !data_ ? 0 : data_->nodes.size() - data_->erased; }
  std::size_t edge_count() const noexcept { return !data_ ? 0 : data_->edges.size(); }
  bool empty() const noexcept { return size() == 0; }

  /// Removes a task with its edges. Throws graph_error if another takes its value. Cost: linear in the edges.
  template <class T>
  void erase(task<T> const& t) {
    refuse_foreign(t);
    data().erase_node(t.index());
  }
  /// Removes every edge from `a` to `b`. Throws graph_error if one carries a value. Cost: linear in the edges.
  template <class A, class B>
  void erase_edge(task<A> const& a, task<B> const& b) {
    refuse_foreign(a);
    refuse_foreign(b);
    data().erase_edges(a.index(), b.index());
  }
  /// Removes everything; handles become invalid.
  void clear() { data().clear(); }

  /// Calls f(task<>) for every task, in order of creation; a task may stand in the place of one that was erased before.
  template <class F>
  void for_each_task(F&& f) const {
    for (std::uint32_t i = 0; i < data().nodes.size(); ++i) {
      if (data().nodes[i] != nullptr) f(task<>{data(), i});
    }
  }

  task_graph& name(std::string_view text);
  std::string const& name() const { return data().title; }

  /// Writes the graph in the DOT language; edges of conditions are dashed and numbered, composed graphs are boxes.
  void dot(std::ostream& out) const;

  // How executors start runs.
  template <class... Options>
  graph_run start_run(detail::core& home, std::size_t passes, Options&&... options) {
    return data().start(home, passes, {}, std::forward<Options>(options)...);
  }
  template <class Predicate, class... Options>
  graph_run start_run_until(detail::core& home, Predicate&& done, Options&&... options) {
    auto again = [stop = std::forward<Predicate>(done)]() mutable { return !stop(); };
    return data().start(home, 1, std::move(again), std::forward<Options>(options)...);
  }

 private:
  template <class Node, class... Args>
  task<> add_node(Args&&... args) {
    return task<>{data(), data().template add_node<Node>(0, std::forward<Args>(args)...).index};
  }

  /// The slots of the tasks that have a value, as a tuple.
  template <class T>
  static auto slot_of(task<T> const& t) {
    if constexpr (std::is_void_v<T>) {
      return std::tuple<>{};
    } else {
      return std::tuple<detail::result_slot<T> const*>{&t.value()};
    }
  }

  template <class F, class G, class... T>
  auto add(G&& g, task<T> const&... from) {
    (refuse_foreign(from), ...);
    return std::apply(
        [&]<class... Taken>(detail::result_slot<Taken> const*... slots) {
          using result = std::remove_cv_t<detail::task_result<context, F, decltype(slots->get())...>>;
          using node = detail::task_node<F, result, Taken...>;
          std::uint32_t const index = data().template add_node<node>(sizeof...(T), std::forward<G>(g), slots...).index;
          (data().add_edge(from.index(), index, !std::is_void_v<T>), ...);
          return task<result>{data(), index};
        },
        std::tuple_cat(slot_of(from)...));
  }

  template <class T>
  void refuse_foreign(task<T> const& t) const {
    if (t.graph() != &data() || !t.valid()) {
      throw graph_error{
          "a task of another graph, or none, where one of this graph is needed; mend it by using a handle that "
          "this graph's emplace() returned."};
    }
  }

  detail::graph_data& data() const {
    if (!data_) [[unlikely]]
      detail::refuse_moved_from();
    return *data_;
  }

  detail::graph_owner data_;
};

template <class Order>
template <class Graph, class... Options>
auto basic_context<Order>::run(Graph& graph, Options&&... options) const {
  return graph.start_run(fiber_->home, std::size_t{1}, std::forward<Options>(options)...);
}

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/graph/task_graph.ipp"
#endif
