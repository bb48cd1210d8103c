// broadcast_node and split_node: pass messages on at once, and keep none.
#pragma once

#include <cstddef>  // size_t
#include <tuple>
#include <utility>  // index_sequence, make_index_sequence

#include "heist/compat/tbb/oneapi/tbb/flow/edges.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/multifunction_node.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/successors.hpp"

namespace tbb::flow {

/// To all successors.
template <class T>
class broadcast_node : public graph_node, public receiver<T>, public detail::pushing_sender<T> {
 public:
  using input_type = T;
  using output_type = T;

  explicit broadcast_node(graph& g) : graph_node{g} {}
  template <class... S>
  explicit broadcast_node(node_set<S...> const& set) : broadcast_node(set.graph_reference()) {
    detail::connect(set, *this);
  }
  broadcast_node(broadcast_node const& other) : broadcast_node(other.my_graph) {}

  graph& graph_reference() const override { return this->my_graph; }
  detail::graph_task* try_put_task(T const& t) override {
    this->to_.put_to_all(t);
    return detail::taken;
  }

 protected:
  void reset_node(reset_flags flags) override { this->reset_successors(flags); }

 private:
};

template <class... S>
broadcast_node(node_set<S...> const&) -> broadcast_node<detail::set_message<node_set<S...>>>;

/// Each element of a tuple to its port.
template <class Tuple>
class split_node : public graph_node, public receiver<Tuple> {
  using ports = detail::ports_of<Tuple>;

 public:
  using input_type = Tuple;
  using output_ports_type = typename ports::type;

  explicit split_node(graph& g) : graph_node{g}, ports_{g} {}
  template <class... S>
  explicit split_node(node_set<S...> const& set) : split_node(set.graph_reference()) {
    detail::connect(set, *this);
  }
  split_node(split_node const& other) : split_node(other.my_graph) {}

  graph& graph_reference() const override { return this->my_graph; }
  output_ports_type& output_ports() noexcept { return ports_.all; }
  detail::graph_task* try_put_task(Tuple const& t) override {
    put(t, std::make_index_sequence<std::tuple_size_v<Tuple>>{});
    return detail::taken;
  }

 protected:
  void reset_node(reset_flags flags) override { ports_.reset(flags); }

 private:
  template <std::size_t... I>
  void put(Tuple const& t, std::index_sequence<I...>) {
    (std::get<I>(ports_.all).try_put(std::get<I>(t)), ...);
  }

  ports ports_;
};

template <class... S>
split_node(node_set<order::following, S...> const&)
    -> split_node<detail::set_message<node_set<order::following, S...>>>;
template <class... S>
split_node(node_set<order::preceding, S...> const&)
    -> split_node<typename detail::set_traits<node_set<order::preceding, S...>>::tuple>;

}  // namespace tbb::flow
