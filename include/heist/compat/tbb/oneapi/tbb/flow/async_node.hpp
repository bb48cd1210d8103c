// async_node: results come from work outside of the graph.
#pragma once

#include <cstddef>  // size_t
#include <tuple>

#include "heist/compat/tbb/oneapi/tbb/flow/edges.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/function_input.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/successors.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow_graph_abstractions.h"

namespace tbb::flow {

template <class Input, class Output, class Policy = queueing>
class async_node : public graph_node, public detail::function_input<Input>, public detail::pushing_sender<Output> {
  using in = detail::function_input<Input>;

 public:
  using input_type = Input;
  using output_type = Output;
  using gateway_type = receiver_gateway<Output>;
  using output_ports_type = std::tuple<sender<Output>&>;

 private:
  using stored_body = detail::node_body<void(Input const&, gateway_type&)>;

 public:
  template <class Body>
  async_node(graph& g, std::size_t limit, Body body, Policy = Policy(), node_priority_t priority = no_priority)
      : graph_node{g}, in{g, detail::options_of<Policy, Body, stored_body>(limit, priority)}, body_{body} {}
  template <class Body>
  async_node(graph& g, std::size_t limit, Body body, node_priority_t priority)
      : async_node(g, limit, body, Policy(), priority) {}
  template <class... S, class Body>
  async_node(node_set<S...> const& set, std::size_t limit, Body body, Policy p = Policy(),
             node_priority_t priority = no_priority)
      : async_node(set.graph_reference(), limit, body, p, priority) {
    detail::connect(set, *this);
  }
  template <class... S, class Body>
  async_node(node_set<S...> const& set, std::size_t limit, Body body, node_priority_t priority)
      : async_node(set, limit, body, Policy(), priority) {}
  async_node(async_node const& other)
      : graph_node{other.my_graph},
        in{other.my_graph, other.options()},
        detail::pushing_sender<Output>{},
        body_{other.body_} {}

  gateway_type& gateway() noexcept { return gateway_; }
  /// The node itself.
  output_ports_type& output_ports() noexcept { return ports_; }

 protected:
  void apply(Input const& t, typename in::place&) override { body_(t, gateway_); }
  void reset_node(reset_flags flags) override {
    this->reset_input(flags);
    this->reset_successors(flags);
    if (detail::has(flags, rf_reset_bodies)) body_.reset();
  }

 private:
  friend struct detail::body_access;
  class way_in final : public gateway_type {
   public:
    explicit way_in(async_node& n) : node_{n} {}
    void reserve_wait() override { node_.my_graph.reserve_wait(); }
    void release_wait() override { node_.my_graph.release_wait(); }
    bool try_put(Output const& message) override { return node_.to_.put_to_all(message); }

   private:
    async_node& node_;
  };

  stored_body body_;
  way_in gateway_{*this};
  output_ports_type ports_{*this};
};

}  // namespace tbb::flow
