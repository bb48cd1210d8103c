// Nodes for each kind of task: with a value, without one, conditions, graphs within graphs.
#pragma once

#include <cstddef>  // size_t
#include <cstdint>
#include <exception>  // current_exception
#include <tuple>
#include <type_traits>
#include <utility>  // declval, forward

#include "heist/core/base/config.hpp"
#include "heist/core/base/errors.hpp"
#include "heist/core/base/result.hpp"
#include "heist/core/executor/context.hpp"
#include "heist/graph/graph_data.hpp"
#include "heist/graph/input.hpp"
#include "heist/graph/run.hpp"
#include "heist/graph/value_bytes.hpp"

namespace heist::detail {

inline unsigned wave_of_node(runnable const& self) noexcept {
  return static_cast<record const&>(self).graph->current->wave;
}

template <class Node>
constexpr auto forget_value_of() noexcept -> void (*)(node&) noexcept {
  if constexpr (requires(Node & n) { n.value.reset(); }) {
    return [](node& self) noexcept { static_cast<Node&>(self).value.reset(); };
  } else {
    return nullptr;
  }
}

template <class Node>
constexpr bool leaves_number() noexcept {
  if constexpr (requires { typename Node::value_type; }) {
    return std::is_integral_v<typename Node::value_type>;
  } else {
    return false;
  }
}

template <class Node>
constexpr auto event_of() noexcept -> event_part* (*)(node&) noexcept {
  if constexpr (std::is_base_of_v<event_part, Node>) {
    return [](node& self) noexcept -> event_part* { return &static_cast<Node&>(self); };
  } else {
    return nullptr;
  }
}

template <class Node>
constexpr auto bytes_left_by() noexcept -> std::uint64_t (*)(node const&) noexcept {
  if constexpr (requires(Node const& n) { n.value.get(); }) {
    using value = std::remove_cvref_t<decltype(std::declval<Node const&>().value.get())>;
    if constexpr (sized_value<value>) {
      return [](node const& self) noexcept -> std::uint64_t {
        auto const& left = static_cast<Node const&>(self).value;
        return left.full() ? value_bytes<value>::of(left.get()) : 0;
      };
    }
  }
  return nullptr;
}

template <class Node>
inline constexpr node_operations operations_of{{&text_of_node, &wave_of_node, &end_of_node, &interrupt_of_node},
                                               &Node::run,
                                               [](node& self) noexcept { static_cast<Node&>(self).~Node(); },
                                               forget_value_of<Node>(),
                                               sizeof(Node),
                                               alignof(Node),
                                               Node::kind,
                                               leaves_number<Node>(),
                                               event_of<Node>(),
                                               bytes_left_by<Node>()};

/// Every task does this first: observers hear of the tasks that have ended, and its join counter is ready for the next
/// time it is reached.
HEIST_ALWAYS_INLINE record& begin_task(runnable& task, fiber& self) {
  record& r = static_cast<record&>(task);
  self.worker->work_for(*r.graph);
  if (r.predecessors > 1) {
    graph_data& g = *r.graph;
    g.counters[&r - g.records].reset(r.predecessors);
  }
  return r;
}

/// Part of every node with a value, so that other tasks find the value without knowing the callable.
template <class R>
struct value_node : node {
  using node::node;
  result_slot<R> value;
};
template <>
struct value_node<void> : node {
  using node::node;
};

[[noreturn]] void reject_missing_value(record const& r);

/// A task: F is called with the values that `Inputs` give (input.hpp), and leaves a value of type R.
template <class F, class R, class... Inputs>
struct task_node final : value_node<R> {
  static constexpr task_kind kind = task_kind::task;
  using value_type = R;

  template <class G>
  explicit task_node(G&& g, Inputs... from)
      : value_node<R>(operations_of<task_node>), function(std::forward<G>(g)), inputs(std::move(from)...) {}

  static runnable* run(runnable& task, fiber& self) {
    record& r = begin_task(task, self);
    run_state& state = *r.graph->current;
    if (!state.interrupted()) [[likely]] {
      try {
        work(r, self, state, std::index_sequence_for<Inputs...>{});
      } catch (...) {
        state.fail(exception_of_task(), &r);
      }
    } else if constexpr (!std::is_void_v<R>) {
      static_cast<task_node&>(r.built()).value.reset();
    }
    return finish(r, self);
  }

  template <std::size_t... I>
  static void work(record const& r, fiber& self, run_state const& state, std::index_sequence<I...>) {
    auto& me = static_cast<task_node&>(r.built());
    if constexpr (!std::is_void_v<R>) me.value.reset();
    if constexpr (requires { me.function.restore(me.inputs, result_of(me)); }) {
      if (me.function.restore(me.inputs, result_of(me))) return;  // it has run before, in another process
    }
    if (!(std::get<I>(me.inputs)->full() && ...)) reject_missing_value(r);
    auto const call = [&]() -> decltype(auto) {
      return call_with_context<context>(me.function, self, &state.interrupt, std::get<I>(me.inputs)->get()...);
    };
    auto const fill = [&] {
      if constexpr (std::is_void_v<R>) {
        call();
      } else {
        me.value.fill(call);
      }
    };
    if constexpr ((is_taken<Inputs> || ...)) {
      forget_taken const at_end{me.inputs};
      fill();
    } else {
      fill();
    }
  }

  static result_slot<R>* result_of(task_node& me) noexcept {
    if constexpr (std::is_void_v<R>) {
      return nullptr;
    } else {
      return &me.value;
    }
  }

  [[no_unique_address]] F function;
  [[no_unique_address]] std::tuple<Inputs...> inputs;
};

/// The function of a placeholder.
struct no_work {
  void operator()() const noexcept {}
};

/// A condition: F returns the number of the successor to run next; any other number: none.
template <class F>
struct condition_node final : node {
  static constexpr task_kind kind = task_kind::condition;

  template <class G>
  explicit condition_node(G&& g) : node(operations_of<condition_node>), function(std::forward<G>(g)) {}

  static runnable* run(runnable& task, fiber& self) {
    record& r = begin_task(task, self);
    graph_data& g = *r.graph;
    run_state& state = *g.current;
    std::int64_t chosen = -1;
    if (!state.interrupted()) {
      try {
        chosen = call_with_context<context>(static_cast<condition_node&>(r.built()).function, self, &state.interrupt);
      } catch (...) {
        state.fail(exception_of_task(), &r);
      }
    }
    std::uint32_t const count = (&r)[1].first_successor - r.first_successor;
    if (chosen >= 0 && chosen < count) {  // the chosen one takes over the token
      return &g.records[g.successors[r.first_successor + chosen].position()];
    }
    self.worker->count_for(g);  // its token is given up
    return nullptr;
  }

  [[no_unique_address]] F function;
};

/// A condition that chooses several successors: F returns a range of numbers.
template <class F>
struct multi_condition_node final : node {
  static constexpr task_kind kind = task_kind::multi_condition;

  template <class G>
  explicit multi_condition_node(G&& g) : node(operations_of<multi_condition_node>), function(std::forward<G>(g)) {}

  static runnable* run(runnable& task, fiber& self) {
    record& r = begin_task(task, self);
    graph_data& g = *r.graph;
    run_state& state = *g.current;
    if (!state.interrupted()) {
      try {
        auto const chosen =
            call_with_context<context>(static_cast<multi_condition_node&>(r.built()).function, self, &state.interrupt);
        std::int64_t const count = (&r)[1].first_successor - r.first_successor;
        for (std::int64_t const i : chosen) {
          if (i < 0 || i >= count) continue;
          g.count_one_more();
          record& next = g.records[g.successors[r.first_successor + i].position()];
          if (HEIST_UNLIKELY(g.begins_in_order())) {
            ready_offer offer{self};
            offer.add(g.urgency_of(next), next);
            offer.leave();
          } else {
            self.scheduler.push(*self.worker, next);
          }
        }
      } catch (...) {
        state.fail(exception_of_task(), &r);
      }
    }
    self.worker->count_for(g);  // its token is given up
    return nullptr;
  }

  [[no_unique_address]] F function;
};

/// A task whose work is one run of another graph.
struct module_node final : node {
  static constexpr task_kind kind = task_kind::module;

  explicit module_node(graph_data& composed) noexcept;
  static runnable* run(runnable& task, fiber& self);

  graph_data& inner;
};

inline module_node::module_node(graph_data& composed) noexcept : node(operations_of<module_node>), inner{composed} {}

}  // namespace heist::detail

#if HEIST_HEADER_ONLY
#include "heist/graph/typed_node.ipp"
#endif
