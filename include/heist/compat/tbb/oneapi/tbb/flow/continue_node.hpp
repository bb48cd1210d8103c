// continue_node: calls its body when all predecessors have said that they are done.
#pragma once

#include <cstddef>  // size_t

#include "heist/compat/tbb/oneapi/tbb/flow/body.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/edges.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/successors.hpp"

namespace tbb::flow {

template <class Output, class Policy = flow::Policy<void>>
class continue_node : public graph_node, public continue_receiver, public detail::pushing_sender<Output> {
  using stored_body = detail::node_body<Output(continue_msg const&)>;

 public:
  using input_type = continue_msg;
  using output_type = Output;

  template <class Body>
  continue_node(graph& g, Body body, Policy = Policy(), node_priority_t priority = no_priority)
      : continue_node(numbered{}, g, 0, body, priority) {}
  template <class Body>
  continue_node(graph& g, Body body, node_priority_t priority) : continue_node(numbered{}, g, 0, body, priority) {}
  template <class Body>
  continue_node(graph& g, int predecessors, Body body, Policy = Policy(), node_priority_t priority = no_priority)
      : continue_node(numbered{}, g, predecessors, body, priority) {}
  template <class Body>
  continue_node(graph& g, int predecessors, Body body, node_priority_t priority)
      : continue_node(numbered{}, g, predecessors, body, priority) {}
  template <class... S, class Body>
  continue_node(node_set<S...> const& set, Body body, Policy p = Policy(), node_priority_t priority = no_priority)
      : continue_node(set, 0, body, p, priority) {}
  template <class... S, class Body>
  continue_node(node_set<S...> const& set, Body body, node_priority_t priority)
      : continue_node(set, 0, body, Policy(), priority) {}
  template <class... S, class Body>
  continue_node(node_set<S...> const& set, int predecessors, Body body, Policy = Policy(),
                node_priority_t priority = no_priority)
      : continue_node(numbered{}, set.graph_reference(), predecessors, body, priority) {
    detail::connect(set, *this);
  }
  template <class... S, class Body>
  continue_node(node_set<S...> const& set, int predecessors, Body body, node_priority_t priority)
      : continue_node(set, predecessors, body, Policy(), priority) {}
  continue_node(continue_node const& other)
      : graph_node{other.my_graph},
        continue_receiver{other},
        detail::pushing_sender<Output>{},
        priority_{other.priority_},
        body_{other.body_} {}

  graph& graph_reference() const override { return my_graph; }
  node_priority_t priority() const override { return priority_; }

 protected:
  detail::graph_task* execute() override {
    detail::graph_tasks& tasks = detail::tasks_of(my_graph);
    if constexpr (detail::has_policy<Policy, lightweight>) {
      run(!tasks.is_cancelled());
    } else {
      tasks.spawn([this](bool may_run) { run(may_run); }, priority_);
    }
    return detail::taken;
  }
  void reset_node(reset_flags flags) override {
    this->reset_receiver(flags);
    this->reset_successors(flags);
    if (detail::has(flags, rf_reset_bodies)) body_.reset();
  }

 private:
  friend struct detail::body_access;
  struct numbered {};
  template <class Body>
  continue_node(numbered, graph& g, int predecessors, Body const& body, node_priority_t priority)
      : graph_node{g}, continue_receiver{static_cast<std::size_t>(predecessors)}, priority_{priority}, body_{body} {}

  void run(bool may_run) {
    if (may_run) this->to_.put_to_all(body_(continue_msg{}));
  }

  node_priority_t const priority_;
  stored_body body_;
};

template <class Body>
continue_node(graph&, Body, node_priority_t = no_priority) -> continue_node<detail::output_of<Body>>;
template <class Body, class Policy>
continue_node(graph&, Body, Policy, node_priority_t = no_priority) -> continue_node<detail::output_of<Body>, Policy>;
template <class Body>
continue_node(graph&, int, Body, node_priority_t = no_priority) -> continue_node<detail::output_of<Body>>;
template <class Body, class Policy>
continue_node(graph&, int, Body, Policy, node_priority_t = no_priority)
    -> continue_node<detail::output_of<Body>, Policy>;
template <class... S, class Body>
continue_node(node_set<S...> const&, Body, node_priority_t = no_priority) -> continue_node<detail::output_of<Body>>;
template <class... S, class Body, class Policy>
continue_node(node_set<S...> const&, Body, Policy, node_priority_t = no_priority)
    -> continue_node<detail::output_of<Body>, Policy>;
template <class... S, class Body>
continue_node(node_set<S...> const&, int, Body, node_priority_t = no_priority)
    -> continue_node<detail::output_of<Body>>;
template <class... S, class Body, class Policy>
continue_node(node_set<S...> const&, int, Body, Policy, node_priority_t = no_priority)
    -> continue_node<detail::output_of<Body>, Policy>;

}  // namespace tbb::flow
