// multifunction_node: any number of results, on ports.
#pragma once

#include <cstddef>  // size_t
#include <tuple>

#include "heist/compat/tbb/oneapi/tbb/flow/edges.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/function_input.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/successors.hpp"

namespace tbb::flow {

namespace detail {

/// An output port.
template <class T>
class multifunction_output : public pushing_sender<T> {
 public:
  using output_type = T;

  multifunction_output(graph& g) : graph_{g} {}

  graph& graph_reference() const { return graph_; }
  /// False: no successor took it.
  bool try_put(T const& t) { return this->to_.put_to_all(t); }
  void clear() { this->to_.clear(); }

 private:
  graph& graph_;
};

template <class Tuple>
struct ports_of;
/// One output port for each type.
template <class... Ts>
struct ports_of<std::tuple<Ts...>> {
  using type = std::tuple<multifunction_output<Ts>...>;

  explicit ports_of(graph& g) : all{each<Ts>(g)...} {}
  void reset(reset_flags flags) {
    if (has(flags, rf_clear_edges)) std::apply([](auto&... ports) { (ports.clear(), ...); }, all);
  }

  type all;
};

}  // namespace detail

template <class Input, class Output, class Policy = queueing>
class multifunction_node : public graph_node, public detail::function_input<Input> {
  using in = detail::function_input<Input>;
  using ports = detail::ports_of<Output>;

 public:
  using input_type = Input;
  using output_type = Output;
  using output_ports_type = typename ports::type;

 private:
  using stored_body = detail::node_body<void(Input const&, output_ports_type&)>;

 public:
  template <class Body>
  multifunction_node(graph& g, std::size_t limit, Body body, Policy = Policy(), node_priority_t priority = no_priority)
      : graph_node{g}, in{g, detail::options_of<Policy, Body, stored_body>(limit, priority)}, body_{body}, ports_{g} {}
  template <class Body>
  multifunction_node(graph& g, std::size_t limit, Body body, node_priority_t priority)
      : multifunction_node(g, limit, body, Policy(), priority) {}
  template <class... S, class Body>
  multifunction_node(node_set<S...> const& set, std::size_t limit, Body body, Policy p = Policy(),
                     node_priority_t priority = no_priority)
      : multifunction_node(set.graph_reference(), limit, body, p, priority) {
    detail::connect(set, *this);
  }
  template <class... S, class Body>
  multifunction_node(node_set<S...> const& set, std::size_t limit, Body body, node_priority_t priority)
      : multifunction_node(set, limit, body, Policy(), priority) {}
  multifunction_node(multifunction_node const& other)
      : graph_node{other.my_graph}, in{other.my_graph, other.options()}, body_{other.body_}, ports_{other.my_graph} {}

  output_ports_type& output_ports() noexcept { return ports_.all; }

 protected:
  void apply(Input const& t, typename in::place&) override { body_(t, ports_.all); }
  void reset_node(reset_flags flags) override {
    this->reset_input(flags);
    ports_.reset(flags);
    if (detail::has(flags, rf_reset_bodies)) body_.reset();
  }

 private:
  friend struct detail::body_access;
  stored_body body_;
  ports ports_;
};

}  // namespace tbb::flow
