// The analysis as a task graph: two tasks per gate. The first tasks compute arrival times, forward along the signal.
// Once the period is known, the second tasks compute required times, backward from the end points.
#pragma once

#include <heist/heist.hpp>

#include "end_points.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace timing {

/// A task graph that times one netlist. It may run any number of times, also after changes of cells and loads.
/// Netlist and times must outlive it. One run at a time.
class timing_graph {
 public:
  /// With `is_named`, tasks carry the names of their gates, for pictures and traces.
  timing_graph(netlist const& circuit, times& t, std::optional<femtoseconds> period, bool is_named = false)
      : circuit_{&circuit}, times_{&t}, period_{period}, is_named_{is_named} {
    graph_.name(circuit.name);
    add_tasks();
    add_edges();
  }

  timing_graph(timing_graph const&) = delete;
  timing_graph& operator=(timing_graph const&) = delete;

  heist::task_graph& graph() noexcept { return graph_; }
  std::size_t size() const { return graph_.size(); }

  /// Times the circuit and waits for the result.
  template <class Executor>
  void run(Executor& ex) {
    ex.run(graph_).get();
  }

 private:
  /// Adds the tasks in the order of the signal, so that neighbours in the circuit are neighbours in memory.
  void add_tasks() {
    auto const& order = circuit_->order;
    forward_.resize(order.size());
    backward_.resize(order.size());
    for (auto const g : order) {
      forward_[g] = graph_.emplace([t = times_, g] {
        t->update_loads(g);
        t->update_arrivals(g);
      });
    }
    turn_ = graph_.emplace([this] { times_->period(period_ ? *period_ : shortest_period(*circuit_, *times_)); });
    for (auto g = order.rbegin(); g != order.rend(); ++g) {
      backward_[*g] = graph_.emplace([t = times_, g = *g] { t->update_requireds(g); });
    }
    if (is_named_) name_tasks();
  }

  void name_tasks() {
    for (gate_id g = 0; g < circuit_->gates.size(); ++g) {
      forward_[g].name(circuit_->gates[g].name + " arrival");
      backward_[g].name(circuit_->gates[g].name + " required");
    }
    turn_.name("period");
  }

  void add_edges() {
    for (auto const g : circuit_->order) {
      bool is_last = true;  // no gate needs its arrival times
      circuit_->for_each_fan_out(g, [&](gate_id next) {
        is_last = false;
        forward_[g].precede(forward_[next]);
        backward_[next].precede(backward_[g]);
      });
      if (!is_last) continue;
      forward_[g].precede(turn_);
      turn_.precede(backward_[g]);
    }
  }

  netlist const* circuit_;
  times* times_;
  std::optional<femtoseconds> period_;
  bool is_named_;
  heist::task_graph graph_;
  std::vector<heist::task<>> forward_, backward_;  // per gate
  heist::task<> turn_;
};

}  // namespace timing
