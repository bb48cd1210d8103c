// function_node: one result for each message.
#pragma once

#include <cstddef>  // size_t

#include "heist/compat/tbb/oneapi/tbb/flow/edges.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/function_input.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/successors.hpp"

namespace tbb::flow {

template <class Input, class Output = continue_msg, class Policy = queueing>
class function_node : public graph_node, public detail::function_input<Input>, public detail::pushing_sender<Output> {
  using in = detail::function_input<Input>;
  using stored_body = detail::node_body<Output(Input const&)>;

 public:
  using input_type = Input;
  using output_type = Output;

  template <class Body>
  function_node(graph& g, std::size_t limit, Body body, Policy = Policy(), node_priority_t priority = no_priority)
      : graph_node{g}, in{g, detail::options_of<Policy, Body, stored_body>(limit, priority)}, body_{body} {}
  template <class Body>
  function_node(graph& g, std::size_t limit, Body body, node_priority_t priority)
      : function_node(g, limit, body, Policy(), priority) {}
  template <class... S, class Body>
  function_node(node_set<S...> const& set, std::size_t limit, Body body, Policy p = Policy(),
                node_priority_t priority = no_priority)
      : function_node(set.graph_reference(), limit, body, p, priority) {
    detail::connect(set, *this);
  }
  template <class... S, class Body>
  function_node(node_set<S...> const& set, std::size_t limit, Body body, node_priority_t priority)
      : function_node(set, limit, body, Policy(), priority) {}
  function_node(function_node const& other)
      : graph_node{other.my_graph},
        in{other.my_graph, other.options()},
        detail::pushing_sender<Output>{},
        body_{other.body_} {}

 protected:
  void apply(Input const& t, typename in::place& held) override {
    Output const result = body_(t);
    held.pass_on();
    this->to_.put_to_all(result);
  }
  void reset_node(reset_flags flags) override {
    this->reset_input(flags);
    this->reset_successors(flags);
    if (detail::has(flags, rf_reset_bodies)) body_.reset();
  }

 private:
  friend struct detail::body_access;
  stored_body body_;
};

template <class Body>
function_node(graph&, std::size_t, Body, node_priority_t = no_priority)
    -> function_node<detail::input_of<Body>, detail::output_of<Body>>;
template <class Body, class Policy>
function_node(graph&, std::size_t, Body, Policy, node_priority_t = no_priority)
    -> function_node<detail::input_of<Body>, detail::output_of<Body>, Policy>;
template <class... S, class Body>
function_node(node_set<S...> const&, std::size_t, Body, node_priority_t = no_priority)
    -> function_node<detail::input_of<Body>, detail::output_of<Body>>;
template <class... S, class Body, class Policy>
function_node(node_set<S...> const&, std::size_t, Body, Policy, node_priority_t = no_priority)
    -> function_node<detail::input_of<Body>, detail::output_of<Body>, Policy>;

}  // namespace tbb::flow
