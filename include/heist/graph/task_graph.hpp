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

#include "heist/core/base/config.hpp"
#include "heist/core/base/vector.hpp"
#include "heist/core/executor/start_access.hpp"
#include "heist/fwd.hpp"
#include "heist/graph/access.hpp"
#include "heist/graph/always_node.hpp"
#include "heist/graph/event.hpp"
#include "heist/graph/graph_data.hpp"
#include "heist/graph/input.hpp"
#include "heist/graph/node_callable.hpp"
#include "heist/graph/run.hpp"
#include "heist/graph/task.hpp"
#include "heist/graph/typed_node.hpp"

namespace heist {

/// Tasks and the edges between them. It can run again and again; a later run allocates nothing.
///
/// Threads  one thread at a time builds and changes it. A change while it runs throws graph_error. The callback of a
///          run and the predicate of run_until may change it: the next pass and all later runs see the change.
///          Policies with memory (cab, cats, replay, automatic) refuse such a change. Any thread may start runs. Runs
///          of one graph happen one after the other, in the order in which they were started. The next run may begin,
///          and even end, before threads that wait for the previous run wake up.
/// Promises a run starts each task once (conditions apart), after its predecessors have finished. After an exception
///          or a stop the tasks that have not started are skipped, and the graph can run again. The destructor and
///          assignment wait for runs in progress. In a callback of such a run they return at once, and the last run
///          destroys the tasks when it ends. A task of such a run must not call them.
class task_graph {
 public:
  // --- Make and destroy ---

  task_graph() : data_{new detail::graph_data} {}
  explicit task_graph(std::string_view name) : task_graph{} { data_->title = std::string{name}; }
  task_graph(task_graph&&) noexcept = default;
  task_graph& operator=(task_graph&& other) noexcept;
  ~task_graph() { detail::graph_data::let_go(std::move(data_)); }

  // --- Add tasks ---

  /// Adds a task: f() or f(context).
  template <class F>
  auto emplace(F&& f) {
    if constexpr (detail::accepted<detail::as_task<context, F>>()) {
      return add<std::decay_t<F>>(std::forward<F>(f));
    } else {
      return detail::rejected_handle<task>{};
    }
  }
  /// Adds a task that takes the values of other tasks: f(values...) or f(context, values...), with an edge from each.
  /// A task<void> adds its edge and no argument. heist::take(x) moves the value, and heist::each(range) passes all
  /// values of a range.
  template <class F, class First, class... More>
  requires(detail::is_input<First> && (detail::is_input<More> && ...)) auto emplace(F&& f, First const& first,
                                                                                    More const&... more) {
    if constexpr (detail::accepted<detail::consumer_of<F, First, More...>>()) {
      return add<std::decay_t<F>>(std::forward<F>(f), first, more...);
    } else {
      return detail::rejected_handle<task>{};
    }
  }
  /// Ignores heist::on: for code that builds graphs for one process and for many.
  template <class F, class... Inputs>
  auto emplace(detail::on_rank, F&& f, Inputs const&... inputs) {
    return emplace(std::forward<F>(f), inputs...);
  }
  /// Adds several tasks and returns a tuple of their handles.
  // clang-format off
  template <class F, class G, class... More>
    requires(!detail::is_input<std::decay_t<G>> && !(detail::is_input<std::decay_t<More>> || ...) &&
             !std::is_same_v<std::decay_t<F>, detail::on_rank>)
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

  // Refused: tasks and callables mixed, which is none of the above.
  // clang-format off
  template <class F, class G, class... More>
    requires(!std::is_same_v<std::decay_t<F>, detail::on_rank> &&
             (detail::is_input<std::decay_t<G>> || ... || detail::is_input<std::decay_t<More>>) &&
             !(detail::is_input<std::decay_t<G>> && ... && detail::is_input<std::decay_t<More>>))
  detail::rejected_handle<task> emplace(F&&, G&&, More&&...) {
    // clang-format on
    static_assert(std::is_void_v<F>,
                  "heist: in emplace(), after the callable come the tasks whose values it takes, or more callables, "
                  "not both; fix it by one emplace() for each task that takes values.");
    return {};
  }

  /// Adds a task that any thread finishes by event<T>::set_value(). Its value is a T.
  template <class T = void>
  event<T> emplace_event() {
    static_assert(!std::is_reference_v<T>,
                  "heist: an event's value comes from another thread and is kept by the graph, so it is no reference; "
                  "fix it by an event of a pointer or a value.");
    detail::graph_data& g = data();
    auto const& made = g.template add_node<detail::event_node<T>>(0);
    g.may_have_events = true;
    return event<T>{task<T>{g, made.index}};
  }

  /// Adds a task, f() or f(context), that runs even if the run has failed or was stopped: to release resources or to
  /// notify. context::stop_requested() returns whether it was. Order it by precede() and succeed().
  template <class F>
  task<> emplace_always(F&& f) {
    return add_node<detail::always_node<std::decay_t<F>>>(std::forward<F>(f));
  }

  /// Adds a task without work; task::work() sets it.
  task<> placeholder() { return add_node<detail::task_node<detail::no_work, void>>(detail::no_work{}); }

  /// Adds a condition: f() or f(context) returns the number of the successor to run next, from 0 in the order in
  /// which they were connected. With any other number no successor runs. A successor begins when the condition
  /// chooses it. Its count of predecessors does not include the condition, so loops may go through it.
  template <class F>
  task<> emplace_condition(F&& f) {
    if constexpr (detail::accepted<detail::as_child<context, F>>() && detail::chooses<detail::as_condition<F>>()) {
      return add_node<detail::condition_node<std::decay_t<F>>>(std::forward<F>(f));
    } else {
      return {};
    }
  }
  /// Adds a condition that chooses several successors: f() or f(context) returns a range of numbers.
  template <class F>
  task<> emplace_multi_condition(F&& f) {
    if constexpr (detail::accepted<detail::as_child<context, F>>() &&
                  detail::chooses<detail::as_multi_condition<F>>()) {
      return add_node<detail::multi_condition_node<std::decay_t<F>>>(std::forward<F>(f));
    } else {
      return {};
    }
  }

  /// Adds a task that runs `inner`, which is not copied and may be part of several graphs. An exception of `inner`
  /// becomes this graph's. Throws graph_error if graphs would contain each other in a circle.
  task<> compose(task_graph& inner);

  // --- Look and change ---

  /// Number of tasks, of edges.
  std::size_t size() const noexcept { return !data_ ? 0 : data_->nodes.size() - data_->erased; }
  std::size_t edge_count() const noexcept { return !data_ ? 0 : data_->edges.size(); }
  bool empty() const noexcept { return size() == 0; }

  /// Removes a task with its edges. Throws graph_error if another task takes its value. Cost: linear in the edges.
  template <class T>
  void erase(task<T> const& t) {
    check_same_graph(t);
    data().erase_node(access::index_of(t));
  }
  /// Removes every edge from `a` to `b`. Throws graph_error if one carries a value. Cost: linear in the edges.
  template <class A, class B>
  void erase_edge(task<A> const& a, task<B> const& b) {
    check_same_graph(a);
    check_same_graph(b);
    data().erase_edges(access::index_of(a), access::index_of(b));
  }
  /// Removes all tasks and edges; handles become invalid. The graph keeps the memory for new tasks. Assign a new
  /// graph to release it.
  void clear() { data().clear(); }

  /// Calls f(task<>) for every task, in order of creation. A new task may have the place of an erased one.
  template <class F>
  void for_each_task(F&& f) const {
    for (std::uint32_t i = 0; i < data().nodes.size(); ++i) {
      if (data().nodes[i] != nullptr) f(task<>{data(), i});
    }
  }

  // --- What runs leave behind (policy::cab, cats, replay) ---

  /// The record of the last runs: for each task its worker and squad, its begin and end, and the bytes that it
  /// touches. Empty before the first run. Throws graph_error while the graph runs. Cost: linear in tasks and edges.
  template <class Memory = graph_memory>
  Memory memory() const {
    return detail::graph_memory_access::of<Memory>(data());
  }
  /// This and all later runs under policy::replay follow `memory`. It comes from this graph, or from one that was
  /// built in the same way, perhaps by another process (graph_memory::from_json). In the strict modes each task
  /// begins on its recorded worker; strict_ordered keeps the order of that worker's tasks, too. In relaxed mode that
  /// worker gets it first, and other workers take it when they have no other work. Throws graph_error if it is a
  /// memory of another graph, and while the graph runs.
  template <class Memory>
  void follow(Memory const& memory, replay_mode mode) {
    detail::graph_memory_access::follow(data(), memory, mode);
  }
  /// This and all later runs under policy::replay place tasks as task::on_worker() and task::on_squad() say.
  void follow_placement();
  /// Later runs follow nothing, and the memory is empty. Throws graph_error while the graph runs.
  void forget();
  /// One sentence on how the last run was divided, or what it followed, and why. Empty before the first run under a
  /// policy with memory, and after forget(). Under policy::automatic: the fastest way so far.
  std::string explain() const;

  // --- Name and draw ---

  task_graph& name(std::string_view text);
  std::string const& name() const { return data().title; }

  /// Writes the graph in the DOT language; edges of conditions are dashed and numbered, composed graphs are boxes.
  void dot(std::ostream& out) const;

 private:
  friend struct detail::start_access;
  friend struct detail::task_graph_access;
  using access = detail::task_access;
  template <class... Options>
  graph_run start_run(detail::core& scheduler, std::size_t passes, Options&&... options) {
    if constexpr (detail::options_of_run<Options...>()) {
      return data().start(scheduler, passes, {}, std::forward<Options>(options)...);
    } else {
      return {};
    }
  }
  template <class Predicate, class... Options>
  graph_run start_run_until(detail::core& scheduler, Predicate&& done, Options&&... options) {
    if constexpr (detail::predicate_of_run<Predicate>() && detail::options_of_run<Options...>()) {
      auto again = [stop = std::forward<Predicate>(done)]() mutable { return !stop(); };
      return data().start(scheduler, 1, std::move(again), std::forward<Options>(options)...);
    } else {
      return {};
    }
  }

  template <class Node, class T = void, class... Args>
  task<T> add_node(Args&&... args) {
    return handle<T>(data().template add_node<Node>(0, std::forward<Args>(args)...).index);
  }
  template <class T>
  task<T> handle(std::uint32_t index) const {
    return task<T>{data(), index};
  }

  /// A task keeps this tuple of an input: nothing of a task without a value.
  template <class T>
  auto kept_of(task<T> const& t) const {
    check_same_graph(t);
    if constexpr (std::is_void_v<T>) {
      return std::tuple<>{};
    } else {
      return std::tuple<detail::result_slot<T> const*>{&t.value()};
    }
  }
  template <class Handle>
  auto kept_of(detail::take_of<Handle> const& t) const {
    using value = decltype(detail::task_value(static_cast<Handle const*>(nullptr)));
    static_assert(
        !std::is_void_v<value> && !std::is_reference_v<value>,
        "heist: heist::take(x) takes the value that x returned, and x returns none, or a reference; fix it by "
        "the task itself as the argument.");
    check_same_graph(t.from);
    return std::tuple{detail::taken_value<value>{const_cast<detail::result_slot<value>&>(t.from.value())}};
  }
  template <class Handle>
  auto kept_of(detail::each_of<Handle> const& all) const {
    using value = decltype(detail::task_value(static_cast<Handle const*>(nullptr)));
    for (Handle const& t : all.from) check_same_graph(t);
    if constexpr (std::is_void_v<value>) {
      return std::tuple<>{};
    } else {
      detail::each_value<value> slots{all.from.size()};
      for (std::size_t i = 0; i != all.from.size(); ++i) slots[i] = &all.from[i].value();
      return std::tuple<detail::each_value<value>>{std::move(slots)};
    }
  }

  template <class T>
  static std::size_t edges_of(task<T> const&) noexcept {
    return 1;
  }
  template <class Handle>
  static std::size_t edges_of(detail::take_of<Handle> const&) noexcept {
    return 1;
  }
  template <class Handle>
  static std::size_t edges_of(detail::each_of<Handle> const& all) noexcept {
    return all.from.size();
  }

  /// Calls f(task, is_taken) for each task that an input names.
  template <class T, class F>
  static void for_each_task_of(task<T> const& t, F&& f) {
    f(t, false);
  }
  template <class Handle, class F>
  static void for_each_task_of(detail::take_of<Handle> const& t, F&& f) {
    f(t.from, true);
  }
  template <class Handle, class F>
  static void for_each_task_of(detail::each_of<Handle> const& all, F&& f) {
    for (Handle const& t : all.from) f(t, false);
  }
  template <class T>
  static constexpr bool has_value(task<T> const&) noexcept {
    return !std::is_void_v<T>;
  }

  template <class F, class G, class... In>
  auto add(G&& g, In const&... in) {
    static_assert((detail::is_input<In> && ...),
                  "heist: what follows the function in emplace() are tasks whose values it takes, heist::take(task) or "
                  "heist::each(range of tasks); fix the argument.");
    return std::apply(
        [&]<class... Kept>(Kept&&... kept) {
          using result = std::remove_cv_t<detail::task_result<context, F, decltype(kept->get())...>>;
          using node = detail::task_node<F, result, std::remove_cvref_t<Kept>...>;
          detail::graph_data& d = data();
          [[maybe_unused]] detail::vector<detail::graph_data::input_note> inputs;
          if constexpr ((detail::is_take<In> || ...)) {
            auto const note = [&](auto const& t, bool is_taken) { inputs.push_back({access::index_of(t), is_taken}); };
            (for_each_task_of(in, note), ...);
            d.reject_consumers(inputs.data(), inputs.size());
          }
          std::uint32_t const index =
              d.template add_node<node>((std::size_t{0} + ... + edges_of(in)), std::forward<G>(g), std::move(kept)...)
                  .index;
          if constexpr ((detail::is_take<In> || ...)) {
            try {
              d.add_consumers(inputs.data(), inputs.size(), index);
            } catch (...) {
              d.erase_since(d.births - 1);
              throw;
            }
          }
          [[maybe_unused]] auto const connect = [&](auto const& t, bool) {
            d.add_edge(access::index_of(t), index, has_value(t));
          };
          (for_each_task_of(in, connect), ...);
          return task<result>{d, index};
        },
        std::tuple_cat(kept_of(in)...));
  }

  template <class T>
  void check_same_graph(task<T> const& t) const {
    if (access::graph_of(t) != &data() || !t.valid()) {
      throw graph_error{
          "a task of another graph, or none, where one of this graph is needed; fix it by using a handle that "
          "this graph's emplace() returned."};
    }
  }

  detail::graph_data& data() const {
    if (!data_) [[unlikely]]
      detail::reject_moved_from();
    return *data_;
  }

  detail::graph_owner data_;
};

}  // namespace heist

#if HEIST_HEADER_ONLY
#include "heist/graph/task_graph.ipp"
#endif
