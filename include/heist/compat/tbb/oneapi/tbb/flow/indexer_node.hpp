// indexer_node: passes on messages of several types, with the number of the port at which they came.
#pragma once

#include <cstddef>  // size_t
#include <tuple>
#include <utility>  // index_sequence, index_sequence_for

#include "heist/compat/tbb/oneapi/tbb/flow/edges.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/successors.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/tagged_msg.hpp"

namespace tbb::flow {

namespace detail {

template <class Node, std::size_t I, class T>
class indexer_port final : public receiver<T> {
 public:
  indexer_port(Node& n) : node_{n} {}
  graph& graph_reference() const override { return graph_access::of(node_); }
  /// Refused, if all successors refuse it.
  graph_task* try_put_task(T const& t) override { return taken_if(node_.put(I, t)); }

 private:
  Node& node_;
};

template <class Node, class Numbers, class... Ts>
struct indexer_ports;
template <class Node, std::size_t... I, class... Ts>
struct indexer_ports<Node, std::index_sequence<I...>, Ts...> {
  using type = std::tuple<indexer_port<Node, I, Ts>...>;
};

}  // namespace detail

template <class First, class... Others>
class indexer_node : public graph_node, public detail::pushing_sender<tagged_msg<std::size_t, First, Others...>> {
 public:
  using output_type = tagged_msg<std::size_t, First, Others...>;
  using input_ports_type =
      typename detail::indexer_ports<indexer_node, std::index_sequence_for<First, Others...>, First, Others...>::type;

  explicit indexer_node(graph& g) : graph_node{g}, ports_{self<First>(), self<Others>()...} {}
  template <class... S>
  explicit indexer_node(node_set<S...> const& set) : indexer_node(set.graph_reference()) {
    detail::connect(set, *this);
  }
  indexer_node(indexer_node const& other) : indexer_node(other.my_graph) {}

  input_ports_type& input_ports() noexcept { return ports_; }

 protected:
  void reset_node(reset_flags flags) override { this->reset_successors(flags); }

 private:
  template <class, std::size_t, class>
  friend class detail::indexer_port;

  template <class>
  indexer_node& self() noexcept {
    return *this;
  }
  template <class T>
  bool put(std::size_t port, T const& t) {
    return this->to_.put_to_all(output_type{port, t});
  }

  input_ports_type ports_;
};

template <class... S>
indexer_node(node_set<order::following, S...> const&) -> indexer_node<typename S::output_type...>;

}  // namespace tbb::flow
