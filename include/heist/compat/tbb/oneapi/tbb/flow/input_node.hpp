// input_node: makes messages, one after the other.
#pragma once

#include <mutex>
#include <optional>

#include "heist/compat/tbb/oneapi/tbb/detail/flow_control.hpp"
#include "heist/compat/tbb/oneapi/tbb/detail/spinning_lock.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/body.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/edges.hpp"
#include "heist/compat/tbb/oneapi/tbb/flow/successors.hpp"

namespace tbb::flow {

/// Begins at activate(), and ends when the body stops. It keeps a message that no successor takes.
template <class Output>
class input_node : public graph_node, public sender<Output> {
 public:
  using output_type = Output;

  template <class Body>
  input_node(graph& g, Body body) : graph_node{g}, body_{body} {}
  template <class... S, class Body>
  input_node(node_set<order::preceding, S...> const& set, Body body) : input_node(set.graph_reference(), body) {
    detail::connect(set, *this);
  }
  input_node(input_node const& other) : graph_node{other.my_graph}, sender<Output>{}, body_{other.body_} {}

  void activate() {
    {
      std::lock_guard const guard{lock_};
      is_on_ = true;
    }
    start();
  }

  bool try_get(Output& t) override {
    {
      std::lock_guard const guard{lock_};
      if (is_busy_) return false;
      if (kept_) {
        t = *kept_;
        kept_.reset();
        return true;
      }
      if (!is_on_) return false;
    }
    spawn();
    return false;
  }
  bool try_reserve(Output& t) override {
    std::lock_guard const guard{lock_};
    if (is_busy_ || !kept_) return false;
    t = *kept_;
    is_busy_ = true;
    return true;
  }
  bool try_release() override {
    end_turn(false);
    return true;
  }
  bool try_consume() override {
    end_turn(true);
    return true;
  }
  bool register_successor(receiver<Output>& r) override {
    to_.add(r);
    start();
    return true;
  }
  bool remove_successor(receiver<Output>& r) override {
    to_.remove(r);
    return true;
  }

 protected:
  void reset_node(reset_flags flags) override {
    {
      std::lock_guard const guard{lock_};
      is_on_ = is_busy_ = false;
      kept_.reset();
    }
    if (detail::has(flags, rf_clear_edges)) to_.clear();
    if (detail::has(flags, rf_reset_bodies)) body_.reset();
  }

 private:
  friend struct detail::body_access;

  /// A task for the next message, if there is somebody to take it.
  void start() {
    {
      std::lock_guard const guard{lock_};
      if (!is_on_) return;
    }
    if (!to_.empty()) spawn();
  }
  void spawn() {
    detail::graph_tasks& tasks = detail::tasks_of(my_graph);
    if (!tasks.is_active()) return;
    tasks.spawn([this](bool may_run) {
      if (may_run) send();
    });
  }
  void send() {
    bool makes;
    {
      std::lock_guard const guard{lock_};
      if (is_busy_ || (!kept_ && !is_on_)) return;
      is_busy_ = true;
      makes = !kept_;
    }
    if (makes && !make()) return;
    end_turn(to_.put_to_all(*kept_));  // nobody else changes it meanwhile
  }
  /// False: there is no next message.
  bool make() {
    try {
      flow_control control;
      Output t = body_(control);
      std::lock_guard const guard{lock_};
      if (tbb::detail::flow_control_access::is_stopped(control)) {
        is_on_ = is_busy_ = false;
      } else {
        kept_.emplace(std::move(t));
      }
      return kept_.has_value();
    } catch (...) {
      std::lock_guard const guard{lock_};
      is_busy_ = false;
      throw;
    }
  }
  void end_turn(bool is_taken) {
    {
      std::lock_guard const guard{lock_};
      is_busy_ = false;
      if (is_taken) kept_.reset();
    }
    start();
  }

  tbb::detail::spinning_lock lock_;
  bool is_on_ = false;
  bool is_busy_ = false;  // the message is being made or sent, or is reserved
  std::optional<Output> kept_;
  detail::node_body<Output(flow_control&)> body_;
  detail::successor_list<Output> to_{*this};
};

template <class Body>
input_node(graph&, Body) -> input_node<detail::output_of<Body>>;
template <class... S, class Body>
input_node(node_set<S...> const&, Body) -> input_node<detail::output_of<Body>>;

}  // namespace tbb::flow
