// Edges, ports, and sets of nodes.
#pragma once

#include <cstddef>  // size_t
#include <tuple>
#include <type_traits>
#include <utility>  // index_sequence, index_sequence_for

#include "heist/compat/tbb/oneapi/tbb/flow/endpoints.hpp"

namespace tbb::flow {

template <std::size_t N, class Node>
auto& input_port(Node& n) {
  return std::get<N>(n.input_ports());
}
template <std::size_t N, class Node>
auto& output_port(Node& n) {
  return std::get<N>(n.output_ports());
}

namespace detail {

template <class T>
sender<T>& as_sender(sender<T>& s) {
  return s;
}
template <class T>
receiver<T>& as_receiver(receiver<T>& r) {
  return r;
}

template <class Node>
concept sends = requires(Node& n) {
  as_sender(n);
};
template <class Node>
concept receives = requires(Node& n) {
  as_receiver(n);
};
template <class Node>
concept has_input_ports = requires(Node& n) {
  n.input_ports();
};
template <class Node>
concept has_output_ports = requires(Node& n) {
  n.output_ports();
};

/// The node itself, or its first port.
template <class Node>
auto& sending_end(Node& n) {
  if constexpr (sends<Node>) {
    return as_sender(n);
  } else {
    return as_sender(output_port<0>(n));
  }
}
template <class Node>
auto& receiving_end(Node& n) {
  if constexpr (receives<Node>) {
    return as_receiver(n);
  } else {
    return as_receiver(input_port<0>(n));
  }
}

template <class Node>
concept has_sending_end = sends<Node> || has_output_ports<Node>;
template <class Node>
concept has_receiving_end = receives<Node> || has_input_ports<Node>;

}  // namespace detail

template <class T>
void make_edge(sender<T>& from, receiver<T>& to) {
  from.register_successor(to);
}
template <class T>
void remove_edge(sender<T>& from, receiver<T>& to) {
  from.remove_successor(to);
}
/// Of a node that is no sender (or receiver) but has ports: the first one.
template <detail::has_sending_end From, detail::has_receiving_end To>
void make_edge(From& from, To& to) {
  detail::sending_end(from).register_successor(detail::receiving_end(to));
}
template <detail::has_sending_end From, detail::has_receiving_end To>
void remove_edge(From& from, To& to) {
  detail::sending_end(from).remove_successor(detail::receiving_end(to));
}

namespace order {
struct undefined {};
struct following {};
struct preceding {};
}  // namespace order

/// Nodes that a node's constructor, or make_edges(), connects with one node.
template <class Order, class First, class... Nodes>
struct node_set {
  using order_type = Order;

  explicit node_set(First& first, Nodes&... all) : nodes{first, all...} {}
  template <class Other>
  explicit node_set(node_set<Other, First, Nodes...> const& other) : nodes{other.nodes} {}

  graph& graph_reference() const {
    if constexpr (std::is_base_of_v<graph_node, First>) {
      return detail::graph_access::of(std::get<0>(nodes));
    } else {
      return std::get<0>(nodes).graph_reference();
    }
  }

  std::tuple<First&, Nodes&...> nodes;
};

template <class Node, class... Nodes>
auto make_node_set(Node& first, Nodes&... others) {
  return node_set<order::undefined, Node, Nodes...>{first, others...};
}
/// For a constructor: the new node's predecessors.
template <class Node, class... Nodes>
requires(detail::sends<Node>&&...&& detail::sends<Nodes>) auto follows(Node& first, Nodes&... others) {
  return node_set<order::following, Node, Nodes...>{first, others...};
}
template <class... Nodes>
auto follows(node_set<order::undefined, Nodes...> const& set) {
  return node_set<order::following, Nodes...>{set};
}
/// For a constructor: the new node's successors.
template <class Node, class... Nodes>
requires(detail::receives<Node>&&...&& detail::receives<Nodes>) auto precedes(Node& first, Nodes&... others) {
  return node_set<order::preceding, Node, Nodes...>{first, others...};
}
template <class... Nodes>
auto precedes(node_set<order::undefined, Nodes...> const& set) {
  return node_set<order::preceding, Nodes...>{set};
}

namespace detail {

template <std::size_t I, class From, class To>
void connect_input(From& from, To& to) {
  if constexpr (has_input_ports<To> && !receives<To>) {
    make_edge(from, input_port<I>(to));
  } else {
    make_edge(from, to);
  }
}
template <std::size_t I, class From, class To>
void connect_output(From& from, To& to) {
  if constexpr (has_output_ports<From> && !sends<From>) {
    make_edge(output_port<I>(from), to);
  } else {
    make_edge(from, to);
  }
}
template <class Set, class Node, std::size_t... I>
void connect_all(Set const& set, Node& to, std::index_sequence<I...>) {
  (connect_input<I>(std::get<I>(set.nodes), to), ...);
}
template <class Node, class Set, std::size_t... I>
void connect_to_all(Node& from, Set const& set, std::index_sequence<I...>) {
  (connect_output<I>(from, std::get<I>(set.nodes)), ...);
}

}  // namespace detail

/// Of a node with ports, one port for each node of the set.
template <class Order, class... Nodes, class Node>
void make_edges(node_set<Order, Nodes...> const& set, Node& to) {
  detail::connect_all(set, to, std::index_sequence_for<Nodes...>{});
}
template <class Node, class Order, class... Nodes>
void make_edges(Node& from, node_set<Order, Nodes...> const& set) {
  detail::connect_to_all(from, set, std::index_sequence_for<Nodes...>{});
}

namespace detail {

template <class... Nodes, class Node>
void connect(node_set<order::following, Nodes...> const& set, Node& n) {
  make_edges(set, n);
}
template <class... Nodes, class Node>
void connect(node_set<order::preceding, Nodes...> const& set, Node& n) {
  make_edges(n, set);
}

/// The message that a node passes which is made with such a set.
template <class Set>
struct set_traits;
template <class First, class... Nodes>
struct set_traits<node_set<order::following, First, Nodes...>> {
  using message = typename First::output_type;
  using tuple = std::tuple<typename First::output_type, typename Nodes::output_type...>;
};
template <class First, class... Nodes>
struct set_traits<node_set<order::preceding, First, Nodes...>> {
  using message = typename First::input_type;
  using tuple = std::tuple<typename First::input_type, typename Nodes::input_type...>;
};
template <class Set>
using set_message = typename set_traits<Set>::message;

/// Makes each element of a tuple of ports from the same argument.
template <class, class A>
A& each(A& a) noexcept {
  return a;
}

}  // namespace detail
}  // namespace tbb::flow
