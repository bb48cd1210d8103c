// composite_node: nodes of a program's own class that look like one node with ports.
#pragma once

#include <memory>  // make_unique, unique_ptr
#include <tuple>

#include "heist/compat/tbb/oneapi/tbb/flow/edges.hpp"

namespace tbb::flow {

namespace detail {

/// The base of all of them. Nothing is to be reset: the nodes inside belong to the graph as well.
class composite_base : public graph_node {
 public:
  using graph_node::graph_node;
  /// For tools that show a graph.
  template <class... Nodes>
  void add_visible_nodes(Nodes const&...) noexcept {}
  template <class... Nodes>
  void add_nodes(Nodes const&...) noexcept {}

 protected:
  void reset_node(reset_flags) override {}
};

}  // namespace detail

template <class InputTuple, class OutputTuple>
class composite_node;

template <class... In, class... Out>
class composite_node<std::tuple<In...>, std::tuple<Out...>> : public detail::composite_base {
 public:
  using input_ports_type = std::tuple<receiver<In>&...>;
  using output_ports_type = std::tuple<sender<Out>&...>;

  using composite_base::composite_base;
  /// Tuples of references to nodes or ports inside; before the first use of the ports.
  template <class Inputs, class Outputs>
  void set_external_ports(Inputs&& in, Outputs&& out) {
    inputs_ = std::make_unique<input_ports_type>(in);
    outputs_ = std::make_unique<output_ports_type>(out);
  }
  input_ports_type& input_ports() noexcept { return *inputs_; }
  output_ports_type& output_ports() noexcept { return *outputs_; }

 private:
  std::unique_ptr<input_ports_type> inputs_;
  std::unique_ptr<output_ports_type> outputs_;
};

template <class... In>
class composite_node<std::tuple<In...>, std::tuple<>> : public detail::composite_base {
 public:
  using input_ports_type = std::tuple<receiver<In>&...>;

  using composite_base::composite_base;
  template <class Inputs>
  void set_external_ports(Inputs&& in) {
    inputs_ = std::make_unique<input_ports_type>(in);
  }
  input_ports_type& input_ports() noexcept { return *inputs_; }

 private:
  std::unique_ptr<input_ports_type> inputs_;
};

template <class... Out>
class composite_node<std::tuple<>, std::tuple<Out...>> : public detail::composite_base {
 public:
  using output_ports_type = std::tuple<sender<Out>&...>;

  using composite_base::composite_base;
  template <class Outputs>
  void set_external_ports(Outputs&& out) {
    outputs_ = std::make_unique<output_ports_type>(out);
  }
  output_ports_type& output_ports() noexcept { return *outputs_; }

 private:
  std::unique_ptr<output_ports_type> outputs_;
};

}  // namespace tbb::flow
